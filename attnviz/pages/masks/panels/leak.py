"""What the causal mask is for: one sentence gives many training examples, and a mask off by one leaks the answer."""

import time
from typing import Any

import streamlit as st

from attnviz.app import show, widgets
from attnviz.app.cache.shared_results import shared
from attnviz.base.rounding import Rounded
from attnviz.base.words import _
from attnviz.pages.masks import choices, figures
from attnviz.pages.masks.maths import leak_training

KEPT = "m_trained"
REDRAW_SECONDS = 0.25


computed_examples = shared(leak_training.examples)


def panel(words: tuple[str, ...], seed: int) -> None:
    """Draw the examples in the sentence, then two models trained on its words."""
    _examples(computed_examples(words, seed), seed)
    st.divider()
    _leak(words, seed)


def _examples(examples: leak_training.Examples, seed: int) -> None:
    st.markdown(
        "##### "
        + _("One sentence of {t} {t:word|words} is {n} training {n:example|examples}").format(
            t=len(examples.read) + 1, n=len(examples.read)
        )
    )
    table, explanation = st.columns([3, 2], gap="large")
    with table:
        show.draw_table(
            {
                _("reads"): [" ".join(read) for read in examples.read],
                _("must predict"): list(examples.following),
                _("loss, in one pass"): [f"{Rounded(loss):.4f}" for loss in examples.together],
                _("loss, on its own"): [f"{Rounded(loss):.4f}" for loss in examples.apart],
            },
            height="content" if len(examples.read) <= show.SHOWN_WHOLE else 388,
        )
    with explanation:
        st.metric(
            _("Largest difference between the two losses"),
            f"{Rounded(abs(examples.together - examples.apart).max()):.2g}",
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


def _leak(words: tuple[str, ...], seed: int) -> None:
    st.markdown("##### " + _("A mask shifted by one: a loss of zero, and nothing learned"))
    st.markdown(
        _(
            "Two small models are trained on lines of words drawn at random, with replacement, from {n} different "
            "words of your sentence, so that the next one cannot be known. One mask lets a place see itself and what "
            "came before; the other also lets it see the next word: the answer."
        ).format(n=len(leak_training.vocabulary(words)))
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        leak = widgets.number(choices.LEAK, _("Places the mask is shifted by"), step=1, width=220)
        start = st.button(_("Train both, live"), key="m-train", icon=":material/play_arrow:")
    config = leak_training.Config(words, seed, leak=leak)
    place = st.empty()
    if start:
        st.session_state[KEPT] = (config, _live(config, place))
    trained, result = st.session_state.get(KEPT, (None, None))
    if trained != config:
        place.caption(_("Takes about two seconds on this server."))
        return
    with place.container():
        _done(result)


def _live(config: leak_training.Config, place: Any) -> leak_training.Result:
    """Train, and redraw as often as a browser can follow."""
    drawn = 0.0
    for result in leak_training.train(config):
        if time.monotonic() - drawn > REDRAW_SECONDS and not result.done:
            with place.container():
                # for those who do not see the curves grow
                words = _(
                    "Step {step} of {steps}: loss {honest:.2f} with the right mask, {leaking:.2f} with the shifted one."
                ).format(
                    step=result.steps[-1],
                    steps=result.total_steps,
                    honest=result.honest[-1],
                    leaking=result.leaking[-1],
                )
                show.chart(_curves(result), key=f"m-live-{result.steps[-1]}", words=words)
            drawn = time.monotonic()
    return result


def _curves(result: leak_training.Result) -> figures.Figure:
    return figures.losses(
        result.steps, result.honest, result.leaking, result.without_leak, result.guess, result.total_steps
    )


def _done(result: leak_training.Result) -> None:
    show.figure(
        _curves(result),
        name="leak-training",
        key="m-losses",
        table={
            "step": result.steps,
            "mask right": result.honest,
            "mask shifted": result.leaking,
            "mask shifted, without the leak": result.without_leak,
        },
        words=_(
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
                figures.places(weights),
                name=f"learnt-weights-{name}",
                key=f"m-learnt-{name}",
                words=_(
                    "On average a place gives {share} of its attention to the place right after it, where the answer "
                    "stands."
                ).format(share=f"{Rounded(weights.diagonal(1).mean()):.0%}"),
                table={"place": names} | {f"to {n}": weights[:, i] for i, n in enumerate(names)},
            )
