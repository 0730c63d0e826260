"""Sections under the mask: thousands of words, several layers, and training."""

import time
from typing import Any

import numpy as np
import streamlit as st

from attnviz.app import show, widgets
from attnviz.app.cache.shared_results import shared
from attnviz.app.text import quote_word
from attnviz.base.rounding import Rounded
from attnviz.base.words import _, join_sentences, ngettext
from attnviz.pages.masks import choices, figures
from attnviz.pages.masks.maths import leak_training, mask_lab
from attnviz.pages.masks.panels.workbench import pair_table

TRAINED = "m_trained"  #: what the session holds of a training
REDRAW_SECONDS = 0.25
cached_tiles = shared(mask_lab.count_in_tiles)
cached_examples = shared(leak_training.examples)


# The mask rules applied to 4,096 words, without building the matrix.
def far_panel(config: mask_lab.Config) -> None:
    """Draw the mask in tiles on the left and what it costs on the right."""
    far = cached_tiles(config.rules)
    n = len(far.density)
    picture, numbers = st.columns([3, 2], gap="large")
    with picture:
        show.figure(
            show.chart_of(figures.density_map, far.density, far.length),
            name="mask-at-4096",
            key="m-far",
            table={
                "first query": [q * mask_lab.TILE for q in range(n) for _k in range(n)],
                "first key": [k * mask_lab.TILE for _q in range(n) for k in range(n)],
                "share kept": far.density.ravel().tolist(),
            },
            sentence=_(
                "Each dot is a tile of {tile} × {tile} pairs; brightness is the share that is kept, on a root scale so "
                "that a thin band shows."
            ).format(tile=mask_lab.TILE),
        )
    with numbers:
        _draw_counts(far)
        if config.paint:
            st.info(
                _("Painted cells belong to your sentence, so only the rules are drawn here."), icon=":material/brush:"
            )


def _draw_counts(far: mask_lab.TiledMask) -> None:
    empty, partial, full = far.blocks
    blocks = empty + partial + full
    st.metric(
        _("Pairs kept"),
        f"{far.pairs:,}",
        help=_("Counted exactly: every pair was checked, {rows} rows at a time.").format(rows=mask_lab.TILE),
    )
    st.metric(_("Share of the full square"), f"{Rounded(far.pairs / far.square):.2%}")
    st.metric(_("Blocks that FlexAttention computes"), _("{some} of {all}").format(some=partial + full, all=blocks))
    st.markdown(
        _(
            "FlexAttention works in blocks of {side} × {side}: {empty} hold no pair and are skipped, {full} are kept "
            "whole, {partial} are computed and masked: {work} of the full work for {share} of the pairs."
        ).format(
            side=mask_lab.FLEX_BLOCK,
            empty=empty,
            full=full,
            partial=partial,
            work=f"{Rounded((partial + full) / blocks):.1%}",
            share=f"{Rounded(far.pairs / far.square):.1%}",
        )
    )
    st.markdown(
        join_sentences(
            _(
                "The whole matrix was never built: it would take {matrix:.1f} MB as booleans, or {floats:.1f} MB "
                "as float32 for each sequence."
            ).format(matrix=far.square / 1e6, floats=4 * far.square / 1e6),
            _memory_sentence(far),
        )
    )


def _memory_sentence(far: mask_lab.TiledMask) -> str:
    """Say what was in memory instead of the whole matrix."""
    if far.by_lot:
        return _(
            "This mask draws its keys at random, so it was built one strip of {rows} rows at a time: {strip:.2f} MB."
        ).format(rows=mask_lab.TILE, strip=mask_lab.TILE * far.length / 1e6)
    tiles = far.length // mask_lab.TILE
    return _(
        "Instead, {tiles} numbers were counted for each word, one for each column of tiles: {counts:.2f} "
        "million in all."
    ).format(tiles=tiles, counts=tiles * far.length / 1e6)


# How far information from a word can travel in n layers.
def layers_panel(result: mask_lab.Result) -> None:
    """Draw the number of layers to choose, the layer after which each key reaches each query, and how reach grows."""
    st.markdown(
        _(
            "One layer brings a word something of the words it may look at; the next layer, something of the words "
            "that *those* had looked at. The residual stream keeps what was there before. The pictures show what can "
            "arrive, whatever the weights are."
        )
    )
    layers = widgets.slider(choices.LAYERS, _("Layers"), width=420)
    counts = np.stack([result.count_reached(n) for n in range(mask_lab.MOST_LAYERS + 1)])
    left, right = st.columns(2, gap="medium")
    with left:
        show.figure(
            show.chart_of(figures.hops, result.hops, result.tokens, layers),
            name=f"layers-needed-{layers}",
            key="m-hops",
            table=lambda: pair_table(result, **{"layers (-1 never)": result.hops}),
            sentence=_hops_caption(result.hops, layers),
        )
    with right:
        show.figure(
            show.chart_of(figures.reach, counts, len(result.tokens), layers),
            name="receptive-field",
            key="m-reach",
            table={"layers": list(range(mask_lab.MOST_LAYERS + 1)), "last word": counts[:, -1], "mean": counts.mean(1)},
            sentence=_reach_caption(result, counts, layers),
        )


def _hops_caption(hops: np.ndarray, layers: int) -> str:
    """Explain the numbers, and whether more layers would fill the grey cells. -1 in `hops`: never reached."""
    growing = int(hops.max()) == mask_lab.MOST_LAYERS  # else the last layer reached nothing new, nor would another
    never, later = bool((hops < 0).any()), bool((hops > layers).any())
    if never and growing:
        return _(
            "Each number is the layer after which the key has reached the query; grey cells need more layers, some "
            "more than {n} if they are reached at all."
        ).format(n=mask_lab.MOST_LAYERS)
    texts = {
        (True, True): _(
            "Each number is the layer after which the key has reached the query. Of the grey cells some need more "
            "layers, and some are never reached."
        ),
        (False, True): _(
            "Each number is the layer after which the key has reached the query; grey cells need more layers."
        ),
        (True, False): _(
            "Each number is the layer after which the key has reached the query; grey cells are never reached, "
            "however many layers follow."
        ),
        (False, False): _("Each number is the layer after which the key has reached the query."),
    }
    return texts[never, later]


def _reach_caption(result: mask_lab.Result, counts: np.ndarray, layers: int) -> str:
    first = ngettext(
        "Words that reach {token} within {n} layer: {heard} of {all}.",
        "Words that reach {token} within {n} layers: {heard} of {all}.",
        layers,
    ).format(n=layers, token=quote_word(result.tokens[-1]), heard=int(counts[layers, -1]), all=len(result.tokens))
    return join_sentences(first, _describe_more_layers(counts[:, -1], layers, len(result.tokens)))


def _describe_more_layers(reached: np.ndarray, layers: int, n_words: int) -> str:
    """Say what more layers would add; `reached` counts the words that have arrived after 0, 1, 2... layers."""
    final, most = int(reached[-1]), len(reached) - 1
    needed = int((reached < final).sum())
    if layers >= needed and final == n_words:
        return _("More layers can add nothing.")
    if needed == most and final < n_words:
        return _("After {n} {n:layer|layers} it is {heard}, and still growing.").format(n=most, heard=final)
    if layers >= needed:
        return _("No others reach it, however many layers follow.")
    return ngettext(
        "With {n} layer it is {heard}, and more layers add nothing.",
        "With {n} layers it is {heard}, and more layers add nothing.",
        needed,
    ).format(n=needed, heard=final)


# What the causal mask is for: one sentence gives many training examples, and a mask off by one leaks the answer.
def training_panel(tokens: tuple[str, ...], seed: int) -> None:
    """Draw the examples in the sentence, then two models trained on its words."""
    _draw_examples(cached_examples(tokens, seed), seed)
    st.divider()
    _draw_training(tokens, seed)


def _draw_examples(examples: leak_training.Examples, seed: int) -> None:
    st.markdown(
        "##### "
        + _("One sentence of {t} {t:word|words} is {n} training {n:example|examples}").format(
            t=len(examples.prefixes) + 1, n=len(examples.prefixes)
        )
    )
    table, explanation = st.columns([3, 2], gap="large")
    with table:
        show.draw_table(
            {
                _("reads"): [" ".join(read) for read in examples.prefixes],
                _("must predict"): list(examples.next_words),
                _("loss, in one pass"): [f"{Rounded(loss):.4f}" for loss in examples.one_pass_losses],
                _("loss, on its own"): [f"{Rounded(loss):.4f}" for loss in examples.separate_losses],
            },
            height="content" if len(examples.prefixes) <= show.SHOWN_WHOLE else 388,
        )
    with explanation:
        st.metric(
            _("Largest difference between the two losses"),
            f"{Rounded(abs(examples.one_pass_losses - examples.separate_losses).max()):.2g}",
        )
        st.markdown(
            _(
                "Under the causal mask a place cannot tell how the sentence goes on, so every place of one pass is an "
                "example of its own: {together:,} {together:score|scores}. One pass for each example takes {apart:,}, "
                "{times:.1f} times "
                "as many, for the same losses. (Random model, seed {seed}, untrained.)"
            ).format(
                together=examples.pairs_together,
                apart=examples.pairs_apart,
                times=examples.pairs_apart / examples.pairs_together,
                seed=seed,
            )
        )


def _draw_training(tokens: tuple[str, ...], seed: int) -> None:
    st.markdown("##### " + _("A mask shifted by one: a loss of zero, and nothing learned"))
    st.markdown(
        _(
            "Two small models are trained on lines of words drawn at random, with replacement, from {n} different "
            "words of your sentence, so that the next one cannot be known. One mask lets a place see itself and what "
            "came before; the other also lets it see the next word: the answer."
        ).format(n=len(leak_training.vocabulary(tokens)))
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        leak = widgets.number_box(choices.LEAK, _("Places the mask is shifted by"), step=1, width=220)
        start = st.button(_("Train both, live"), key="m-train", icon=":material/play_arrow:")
    config = leak_training.Config(tokens, seed, leak=leak)
    container = st.empty()
    if start:
        st.session_state[TRAINED] = (config, _train_live(config, container))
    trained, result = st.session_state.get(TRAINED, (None, None))
    if trained != config:
        container.caption(_("Takes about two seconds on this server."))
        return
    with container.container():
        _draw_result(result)


def _train_live(config: leak_training.Config, container: Any) -> leak_training.Result:
    """Train, and redraw as often as a browser can follow."""
    last_drawn_at = 0.0
    for result in leak_training.train(config):
        if time.monotonic() - last_drawn_at > REDRAW_SECONDS and not result.is_done:
            with container.container():
                # for those who do not see the curves grow
                caption = _(
                    "Step {step} of {steps}: loss {honest:.2f} with the right mask, {leaking:.2f} with the shifted one."
                ).format(
                    step=result.steps[-1],
                    steps=result.total_steps,
                    honest=result.honest[-1],
                    leaking=result.leaking[-1],
                )
                show.chart(_draw_losses(result), key=f"m-live-{result.steps[-1]}", alt=caption)
            last_drawn_at = time.monotonic()
    return result


def _draw_losses(result: leak_training.Result) -> figures.Figure:
    return figures.losses(
        result.steps, result.honest, result.leaking, result.without_leak, result.guess, result.total_steps
    )


def _draw_result(result: leak_training.Result) -> None:
    show.figure(
        _draw_losses(result),
        name="leak-training",
        key="m-losses",
        table={
            "step": result.steps,
            "mask right": result.honest,
            "mask shifted": result.leaking,
            "mask shifted, without the leak": result.without_leak,
        },
        sentence=_(
            "Under the shifted mask the model copies the answer and its loss falls to **{leaking:.6f}**. Without "
            "the leak, as when it writes by itself, its loss is **{without:.1f}**: worse than guessing blindly "
            "({guess:.2f}), where the honest model stays ({honest:.2f})."
        ).format(
            leaking=result.leaking[-1], without=result.without_leak[-1], guess=result.guess, honest=result.honest[-1]
        ),
    )
    names = [str(n + 1) for n in range(len(result.honest_weights))]
    sides = (
        (result.honest_weights, _("Learned weights under the right mask"), "right"),
        (result.leaking_weights, _("Learned weights under the shifted mask"), "off"),
    )
    for column, (weights, title, name) in zip(st.columns(2, gap="medium"), sides, strict=True):
        with column:
            st.markdown(f"**{title}**")
            show.figure(
                figures.position_weights(weights),
                name=f"learnt-weights-{name}",
                key=f"m-learnt-{name}",
                sentence=_(
                    "On average a place gives {share} of its attention to the place right after it, where the answer "
                    "stands."
                ).format(share=f"{Rounded(weights.diagonal(1).mean()):.0%}"),
                table={"place": names} | {f"to {n}": weights[:, i] for i, n in enumerate(names)},
            )
