"""Section 2: what position alone adds to the scores, by pair of positions and over the distance."""

import numpy as np
import streamlit as st

from attnviz.app import page_parts, show, widgets
from attnviz.app.cache import model_cache
from attnviz.app.cache.shared_results import shared
from attnviz.app.links import link_state
from attnviz.app.sentence_input import require_model
from attnviz.app.text import translate_markdown
from attnviz.base.message import Message
from attnviz.base.word_boundaries import split
from attnviz.base.words import _, join_list, join_sentences
from attnviz.models.catalogue import LoadedModel
from attnviz.models.loading import EXAMPLES, availability
from attnviz.pages.positions import choices, figures
from attnviz.pages.positions.maths import position_scores, shuffled_words
from attnviz.pages.positions.maths.position_scores import ADDED, BIASED, ENCODINGS, KINDS, MODEL, ROTATED

FORMULAS = {
    "sinusoidal": r"x_m \mathrel{+}= \left(\sin\tfrac{m}{b^{2i/D}},\ \cos\tfrac{m}{b^{2i/D}}\right)",
    "learned": r"x_m \mathrel{+}= E_m",
    "rope-half": r"q_m\cdot k_n = \mathrm{Re}\sum_{i} q_i\,\overline{k_i}\;e^{\mathrm{i}(m-n)\,b^{-2i/D}}",
    "rope-interleaved": r"q_m\cdot k_n = \mathrm{Re}\sum_{i} q_i\,\overline{k_i}\;e^{\mathrm{i}(m-n)\,b^{-2i/D}}",
    "alibi": r"\mathrm{score}_{mn} \mathrel{-}= 2^{-8(h+1)/H}\,|m-n|",
    "t5": r"\mathrm{score}_{mn} \mathrel{+}= B_{h,\;\mathrm{bucket}(n-m)}",
}

compute_scores = shared(position_scores.run)
compute_shuffle = shared(shuffled_words.run)


@shared
def compute_trained_scores(
    config: position_scores.Config, version: str, _loaded: LoadedModel
) -> position_scores.Result:
    """Scores with the learned vectors of a model, in the version that was loaded."""
    return position_scores.run(config, position_scores.trained_table(_loaded))


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
    result = _compute_result(config)
    st.caption(_describe(config.kind))
    st.latex(FORMULAS[config.kind])
    st.markdown(f"**{_shift_caption(result)}**")
    with main_picture:
        page_parts.draw_columns(lambda: _draw_map(result), lambda: _draw_distance(result))
    page_parts.draw_columns(lambda: _draw_encoding(result), lambda: _draw_wavelengths(result))
    _draw_order()
    show.program(
        position_scores.program(config, _uses_trained_table()),
        "p-scores",
        about=_("Paste this code into a notebook: it prints mean scores by distance, and what a shift changes."),
    )


def _describe(kind: str) -> str:
    """One sentence: where this encoding enters, and what of it is learned."""
    return {
        "sinusoidal": _("Sines and cosines of the position are added to each word’s vector. Nothing is learned."),
        "learned": _("A table with one vector for each position is learned and added to each word’s vector."),
        "rope-half": _(
            "Queries and keys are turned, pair by pair, by an angle that grows with the position; number i is paired "
            "with number i + D/2, as in Llama. Nothing is learned."
        ),
        "rope-interleaved": _(
            "Queries and keys are turned, pair by pair, by an angle that grows with the position; neighbours are "
            "pairs, as in the RoPE paper. Nothing is learned."
        ),
        "alibi": _(
            "A slope times the distance is taken off the scores; each head has its own slope. Nothing is learned."
        ),
        "t5": _(
            "Each head learns one number for each bucket of distances, and adds it to the scores. Here the table is "
            "random: no model learned it, so only its steps mean something, not their heights."
        ),
    }[kind]


def _uses_trained_table() -> bool:
    return link_state.value(choices.ENCODING) == "learned" and link_state.value(choices.TABLE) == "trained"


def _choose_config() -> position_scores.Config:
    names = position_kinds()
    kind = widgets.select_one(choices.ENCODING, _("Positions"), {encoding: names[encoding] for encoding in ENCODINGS})
    with st.container(horizontal=True, vertical_alignment="bottom"):
        widgets.number_box(choices.COUNT, _("Positions shown"), step=16, width=150)
        widgets.number_box(choices.SHIFT, _("Shift all by"), step=100, width=150)
        if kind in BIASED:
            heads = widgets.number_box(choices.HEADS, _("Heads"), step=1, width=150)
            widgets.number_box(choices.DISPLAYED_HEAD, _("Head, from 0"), step=1, high=heads - 1, width=150)
        else:
            widgets.number_box(choices.WIDTH, _("Width D"), step=2, width=150)
        if kind == "t5":
            widgets.toggle(choices.BOTH_WAYS, _("Later keys too"))
        if kind == "learned":
            widgets.select_one(
                choices.TABLE,
                _("Table"),
                {
                    "random": _("random, seed {seed}").format(seed=link_state.value(choices.SEED)),
                    "trained": _("trained: MiniLM-L6"),
                },
            )
        with page_parts.more_menu():
            _draw_rare_controls(kind)
    value = link_state.value  # also of what has no box now
    return position_scores.Config(
        value(choices.ENCODING),
        value(choices.WIDTH),
        value(choices.BASE),
        value(choices.COUNT),
        value(choices.CONTENT),
        value(choices.SHIFT),
        value(choices.HEADS),
        min(value(choices.DISPLAYED_HEAD), value(choices.HEADS) - 1),
        value(choices.BOTH_WAYS),
        value(choices.SEED),
    )


def _draw_rare_controls(kind: str) -> None:
    """Draw base, content and seed, each where this encoding has it."""
    if kind in ("sinusoidal", *ROTATED):
        widgets.number_box(choices.BASE, _("Base b"), step=1000.0)
    if kind not in BIASED:
        contents = {"same": _("q = k"), "random": _("random q and k")}
        if kind in ADDED:
            contents = {"same": _("none: q = k"), "random": _("random W_q and W_k")}
        widgets.select_one(choices.CONTENT, _("Projections") if kind in ADDED else _("Content"), contents)
    if kind in ("learned", "t5") or link_state.value(choices.CONTENT) == "random":
        widgets.number_box(choices.SEED, _("Seed"), step=1)


def _compute_result(config: position_scores.Config) -> position_scores.Result:
    if not _uses_trained_table():
        return compute_scores(config)
    require_model(availability(MODEL).on_this_machine)

    loaded = model_cache.get_model(MODEL)
    return compute_trained_scores(config, loaded.version, loaded)


def _shift_caption(result: position_scores.Result) -> str:
    config = result.config
    if isinstance(result.shift_change, Message):
        return _("Shifting all positions by {shift:,} is not possible: {why}.").format(
            shift=config.shift, why=translate_markdown(result.shift_change)
        )
    if not config.shift:
        return _("Shifted by 0, all positions stay where they are: choose how far.")
    caption = _(
        "Shift all positions by {shift:,}, and scores change by up to {change:.3g}: where a word stands counts, not "
        "only how far it is."
    )
    if result.shift_change < 1e-6:
        caption = _(
            "Shift all positions by {shift:,}, and no score changes by more than {change:.2g}: only distances count."
        )
    return caption.format(shift=config.shift, change=result.shift_change)


def _draw_map(result: position_scores.Result) -> None:
    n = result.config.n
    caption = _("From {low:.3g} to {high:.3g} over {n} × {n} pairs of positions.").format(
        low=result.scores.min() + 0.0, high=result.scores.max() + 0.0, n=n
    )
    if result.spread < 1e-6:
        caption = join_sentences(caption, _("Along each diagonal all scores are equal."))
    show.figure(
        show.chart_of(figures.position_map, result.scores),
        name=f"positions-{result.config.kind}",
        key="p_map",
        table={"query": np.repeat(np.arange(n), n), "key": np.tile(np.arange(n), n), "score": result.scores.ravel()},
        sentence=caption,
    )


def _draw_distance(result: position_scores.Result) -> None:
    config, far = result.config, result.config.n - 1
    others = [] if result.heads is None else [(_("head {n}").format(n=i), row) for i, row in enumerate(result.heads)]
    caption = (
        _("Mean score {here:.3g} at distance 0, {one:.3g} one back, {last:.3g} at {far} back.")
        if far > 1
        else _("Mean score {here:.3g} at distance 0, {one:.3g} one back.")
    ).format(here=result.at(0), one=result.at(-1), last=result.at(-far), far=far)
    if result.spread > 1e-6:
        caption = join_sentences(
            caption, _("At one distance scores lie up to {spread:.3g} apart.").format(spread=result.spread)
        )
    mean, low, high = result.mean, result.low, result.high
    show.figure(
        show.chart_of(figures.over_distance, result.distance, mean, low, high, others, stairs=config.kind == "t5"),
        name=f"distance-{config.kind}",
        key="p_distance",
        table={"distance": result.distance, "mean": mean, "lowest": low, "highest": high},
        sentence=caption,
    )


def _draw_encoding(result: position_scores.Result) -> None:
    if result.encoding is None:
        return
    config = result.config
    captions = {
        "sinusoidal": _("What is added at each position: fast waves in the first dimensions, slow ones in the last."),
        "learned": _("What is added at each position: a row of the table, {width} numbers.").format(
            width=result.encoding.shape[1]
        ),
        "rope-half": _("A vector of ones, turned by each position: number i and number i + {half} are a pair.").format(
            half=config.width // 2
        ),
        "rope-interleaved": _("A vector of ones, turned by each position: numbers 2i and 2i + 1 are a pair."),
    }[config.kind]
    show.figure(
        show.chart_of(figures.encoding, result.encoding),
        name=f"encoding-{config.kind}",
        key="p_encoding_figure",
        table={f"dimension_{i}": column for i, column in enumerate(result.encoding.T)},
        sentence=captions,
    )


def _draw_wavelengths(result: position_scores.Result) -> None:
    config, slopes, waves = result.config, result.slopes, result.wavelengths
    if slopes is not None:
        show.figure(
            show.chart_of(figures.slopes, slopes, config.head),
            name="alibi-slopes",
            key="p_slopes",
            table={"head": np.arange(len(slopes)), "slope": slopes},
            sentence=_(
                "Head {head} takes {slope:.4g} off its scores for each position of distance: {half:.3g} positions "
                "further away, half the weight is left."
            ).format(head=config.head, slope=slopes[config.head], half=np.log(2) / slopes[config.head]),
        )
    elif waves is not None:
        show.figure(
            show.chart_of(figures.wavelengths, waves, config.n),
            name="wavelengths",
            key="p_waves",
            table={"pair": np.arange(len(waves)), "wavelength": waves},
            sentence=(
                _(
                    "The first pair turns once in {first:.3g} positions, the last in {last:,.0f}; pairs that do "
                    "not complete a turn within {n} positions: {unfinished} of {pairs}."
                )
                if len(waves) > 1
                else _("The only pair turns once in {first:.3g} positions.")
            ).format(
                first=waves[0],
                last=waves[-1],
                unfinished=int((waves > config.n).sum()),
                pairs=len(waves),
                n=config.n,
            ),
        )


# Backwards: which encodings notice it, without a mask and with a causal one.
def _draw_order() -> None:
    """Draw how much outputs change when the example is read backwards, under every encoding."""
    names, result = position_kinds(), compute_shuffle(shuffled_words.Config(split(EXAMPLES[0].text)))
    free, causal = np.array([result.every[kind] for kind in KINDS]).T
    show.figure(
        show.chart_of(figures.changes, [names[kind] for kind in KINDS], free, causal),
        name="order-every-kind",
        key="p_order_every",
        table={"positions": KINDS, "no_mask": free, "causal_mask": causal},
        sentence=_(
            "The same words backwards. Blind to it without a mask: {blind}. With a causal mask even attention without "
            "positions notices it ({causal:.3g}): a word sees only those before it."
        ).format(
            blind=join_list(names[kind] for kind, change in zip(KINDS, free, strict=True) if change < 1e-9),
            causal=result.every["none"][1],
        ),
    )
