"""Section 1: words in another order, with and without positions."""

from functools import partial

import numpy as np
import streamlit as st

from attnviz.app import page_parts, show, widgets
from attnviz.app.cache.shared_results import shared
from attnviz.app.links import link_state
from attnviz.app.text import escape_markdown, quote_token
from attnviz.base.rounding import Rounded
from attnviz.base.word_boundaries import split
from attnviz.base.words import _, join_list
from attnviz.figures import heatmap
from attnviz.pages.positions import choices
from attnviz.pages.positions.figures import scores as figures
from attnviz.pages.positions.maths import shuffled_words
from attnviz.pages.positions.maths.position_scores import KINDS

LEAST = 5e-4  #: of a weight: two that are nearer to each other read the same

compute_shuffle = shared(shuffled_words.run)


def position_kinds() -> dict[str, str]:
    """Names of the position encodings, by id."""
    return {
        "none": _("no positions"),
        "sinusoidal": _("sinusoidal"),
        "learned": _("learned"),
        "rope-half": _("RoPE, half-split"),
        "rope-interleaved": _("RoPE, interleaved"),
        "alibi": "ALiBi",
        "t5": _("T5 buckets"),
    }


def panel() -> None:
    main_picture = page_parts.main_picture()
    config = _choose_config()
    result = compute_shuffle(config)
    with main_picture:
        _draw_matrices(result)
    verdict, formula = st.columns(2, gap="medium", vertical_alignment="center")
    formula.latex(
        r"\begin{gathered}\mathrm{out}(Px) = P\,\mathrm{out}(x)\ \ ?\\ "
        rf"\max\left|\mathrm{{out}}(Px) - P\,\mathrm{{out}}(x)\right| = {tex_number(result.change)}\end{{gathered}}"
    )
    verdict.markdown(f"**{_verdict(result)}**")
    _draw_all_kinds(result)
    show.program(
        partial(shuffled_words.program, config),
        "p-order",
        about=_("Paste this code into a notebook: it prints the largest change of an output."),
    )


def _choose_config() -> shuffled_words.Config:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        sentence = widgets.text_box(choices.SENTENCE, _("Sentence"))
        with page_parts.more_menu():
            seed = widgets.number_box(choices.SEED, _("Vectors: random, seed"), step=1)
    with st.container(horizontal=True, vertical_alignment="bottom", key="p-order-controls"):
        config = shuffled_words.Config(
            words=split(sentence),
            kind=widgets.select_one(choices.KIND, _("Positions"), position_kinds(), style="select"),
            causal=widgets.toggle(choices.CAUSAL, _("Causal mask")),
            order=widgets.select_one(
                choices.ORDER,
                _("The same words"),
                {"reverse": _("backwards"), "swap": _("first and last swapped"), "shuffle": _("shuffled")},
            ),
            seed=seed,
        )
        widgets.toggle(
            choices.OWN_RANGE,
            _("Its own colour range"),
            help=_("From 0 to 1, small weights all look dark."),
        )
        return config


def _verdict(result: shuffled_words.Result) -> str:
    """Sentence that says whether the order of the words reached the outputs."""
    config = result.config
    if result.words == config.words:
        return _("In this order the sentence reads the same, so that nothing changes. Choose another order or words.")
    if not result.is_unchanged:
        return _(
            "The order got in: the output of {word} changes by up to {change:.3g}, where outputs reach {largest:.3g}."
        ).format(
            word=quote_token(config.words[int(result.output_change.argmax())]),
            change=result.change,
            largest=result.largest,
        )
    if config.kind == "alibi":
        return _(
            "ALiBi without a mask knows how far apart two words are, not which comes first: backwards, all distances "
            "are the same, and no output changes by more than {change:.2g}."
        ).format(change=result.change)
    name = position_kinds()[config.kind]
    return _(
        "{name}: in the other order every word gets the output that it had, to within {change:.2g}, which is rounding. "
        "To attention this sentence is a bag of words."
    ).format(name=name[:1].upper() + name[1:], change=result.change)


def _draw_matrices(result: shuffled_words.Result) -> None:
    tokens, config = result.config.words, result.config
    mask = ~np.tri(len(tokens), dtype=bool) if config.causal else None
    reordered_mask = None if mask is None else mask[result.order.argsort()][:, result.order.argsort()]
    q, k = np.unravel_index(int(result.before.argmax()), result.before.shape)
    looked_at = int(np.isclose(result.before[q], result.before[q, k], rtol=0, atol=LEAST).sum())
    typed_caption = (
        _(
            "Head 1 of {heads}, random with seed {seed}, over {n} words: {query} looks most at {key}, with {share} of "
            "its weight."
        )
        if looked_at == 1
        else _(
            "Head 1 of {heads}, random with seed {seed}, over {n} words: {query} looks at {places} places alike, with "
            "{share} of its weight for each."
        )
    ).format(
        heads=shuffled_words.HEADS,
        seed=config.seed,
        n=len(tokens),
        query=quote_token(tokens[q]),
        key=quote_token(tokens[k]),
        places=looked_at,
        share=f"{Rounded(float(result.before[q, k])):.0%}",
    )
    reordered_caption = _(
        "Read in this order: {order}. Sorted back, each weight stands beside that of the same two words; the largest "
        "difference is {difference:.2g}."
    ).format(
        order=escape_markdown(" ".join(result.words)), difference=float(np.abs(result.before - result.after).max())
    )
    matrices = (
        ("before", _("As typed"), result.before, mask, typed_caption),
        ("after", _("In the other order, sorted back"), result.after, reordered_mask, reordered_caption),
    )
    for column, (name, title, weights, hidden, caption) in zip(st.columns(2, gap="medium"), matrices, strict=True):
        with column:
            st.markdown(f"**{title}**")
            show.figure(
                show.chart_of(
                    heatmap.matrix,
                    weights,
                    tokens,
                    tokens,
                    masked=hidden,
                    height=420,
                    numbers=len(tokens) <= 8,
                    top=float(result.before.max()) if link_state.value(choices.OWN_RANGE) else None,
                ),
                name=f"order-{name}",
                key=f"p_order_{name}",
                sentence=caption,
            )


def _draw_all_kinds(result: shuffled_words.Result) -> None:
    names = position_kinds()
    free, causal = np.array([result.every[kind] for kind in KINDS]).T
    blind = join_list(names[kind] for kind, change in zip(KINDS, free, strict=True) if change < 1e-9) or _("none")
    caption = _(
        "Blind to this change of order without a mask: {blind}. With a causal mask even attention without positions "
        "notices it ({causal:.3g}): the mask itself is an order, since a word sees only those before it."
    )
    if result.every["none"][1] < 1e-9:
        caption = _("Blind to this change of order without a mask: {blind}.")
    if result.words == result.config.words:
        caption = _("In this order the sentence reads the same: what is not 0 compares equal words at other places.")
    caption = caption.format(blind=blind, causal=result.every["none"][1])
    show.figure(
        show.chart_of(figures.changes, [names[kind] for kind in KINDS], free, causal),
        name="order-every-kind",
        key="p_order_every",
        table={"positions": KINDS, "no_mask": free, "causal_mask": causal},
        sentence=caption,
    )


def tex_number(value: float) -> str:
    """The number for a formula: 0.28, or a power of ten where it is very small."""
    if value == 0 or abs(value) >= 1e-3:
        return f"{Rounded(value):.3g}"
    digits, power = f"{Rounded(value):.1e}".split("e")
    return rf"{digits}\times 10^{{{int(power)}}}"
