"""Section 2: does scaling matter for learning? A retrieval head is trained with and without it, drawn as it learns."""

import math
import time
from collections.abc import Callable, Generator
from contextlib import closing
from typing import Any, Protocol, TypeVar

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.analysis import own_process
from attnviz.app import page_parts, show, widgets
from attnviz.app.cache.bounded_cache import BoundedCache
from attnviz.app.cache.shared_results import finished_results
from attnviz.app.cache.waiting_line import TRAININGS, trainings_ahead
from attnviz.app.text import translate_markdown
from attnviz.base.message import Problem
from attnviz.base.rounding import Rounded
from attnviz.base.words import _, join_sentences, ngettext
from attnviz.figures.theme import Figure
from attnviz.pages.scaling import choices, figures
from attnviz.pages.scaling.maths import retrieval_training as experiment
from attnviz.pages.scaling.panels import scaling_form
from attnviz.pages.scaling.panels.scaling_form import K, Q


def panel() -> str | None:
    """Draw the section; the program that trains the same, once that was done here."""
    picture_slot = page_parts.main_picture()
    st.markdown(
        _(
            "**The task.** In every sequence each of {n} names gets a new random label; asked for a name, one "
            "attention head must give its label back. Queries, keys and values are learned from a random start "
            "(seeded), side by side from the same start on the same data; only what happens to the scores "
            "differs."
        ).format(n=experiment.Config.names)
    )
    config = _controls()
    show.formulas(
        rf"\mathrm{{Var}}({Q}_i\cdot {K}_j) = {config.d_k}\ \text{{at the start}}",
        rf"\tfrac{{1}}{{\sqrt{{d_k}}}} = {Rounded(1 / math.sqrt(config.d_k)):.4f}",
    )
    with picture_slot:
        _run(config)
    return experiment.program(config) if config in finished_results("s-training") else None


def _controls() -> experiment.Config:
    d_k = scaling_form.d_k_control()
    with st.container(horizontal=True, vertical_alignment="center"), page_parts.more_menu():
        alternative, parameter = scaling_form.third_control()
        names = {"sgd": "SGD", "adam": "Adam"}  # untranslated: names
        return experiment.Config(
            d_k=d_k,
            alternative=alternative,
            parameter=parameter,
            optimizer=widgets.select_one(choices.OPTIMIZER, _("Optimizer"), names, style="select"),
            rate=scaling_form.page_number_box(choices.RATE, _("Learning rate"), 0.1),
            steps=scaling_form.page_number_box(choices.STEPS, _("Steps"), 100),
            seeds=scaling_form.page_number_box(choices.SEEDS, _("Seeds"), 1),
            seed=scaling_form.page_number_box(choices.SEED, _("First seed"), 1),
        )


def _run(config: experiment.Config) -> None:
    """Draw the training so far (all, some or none of its steps), and the button to start it."""
    cached = finished_results("s-training").find(config)
    if cached is not None:
        _draw_result(cached)
        return
    partial = partial_result("s", config)
    # a link opens what takes long ready to be pressed: what strangers link to must not make work by being opened
    first_visit = experiment.is_small(config) and not st.session_state.get("s_training_seen")
    st.session_state["s_training_seen"] = True
    button, curves_slot = st.empty(), st.empty()
    if draw_train_button("s", button, bool(partial)) or first_visit:
        partial = watch(
            "s", config, finished_results("s-training"), lambda: _results(config), _draw_progress, (button, curves_slot)
        )
    with curves_slot.container():
        if partial is None:
            st.info(_("Training is drawn as it runs. Nothing about the result is fixed in advance."))
            return
        if not partial.complete:
            draw_stopped(partial)
        _draw_result(partial)


def _draw_progress(result: experiment.Result) -> None:
    show.chart(_figure(result), key=f"s_live_{result.done}", alt=describe_progress(result))


def _results(config: experiment.Config) -> Generator[experiment.Result]:
    """Yield results so far. A small training runs here, because another process takes longer to start."""
    experiment.check(config)
    if experiment.is_small(config):
        yield from experiment.train(config)
    else:
        yield from own_process.results(experiment, "train", config, 1, own_process.NICE)


def _figure(result: experiment.Result) -> Figure:
    names, config = scaling_form.scheme_names(), result.config
    runs = [(names[name], scaling_form.scheme_colour(name), vars(run)) for name, run in result.runs.items()]
    return figures.draw_training(runs, config.steps, 1 / experiment.LABELS, math.log(config.names))


def _draw_result(result: experiment.Result) -> None:
    config, names = result.config, scaling_form.scheme_names()
    st.markdown(f"**{translate_markdown(result.verdict())}**")
    ends = [
        _("{name}: {accuracy:.1%} right, loss {loss:.3f}, entropy {entropy:.2f} nats.").format(
            name=names[name],
            **{measure: run.end(measure).mean() for measure in ("accuracy", "loss", "entropy")},
        )
        for name, run in result.runs.items()
    ]
    show.figure(
        _figure(result),
        name=f"training-dk{config.d_k}",
        key="s_training",
        table={"step": np.arange(1, result.done + 1)}
        | {
            f"{name}_{measure}_mean": values.mean(0)
            for name, run in result.runs.items()
            for measure, values in vars(run).items()
        },
        sentence=join_sentences(
            *ends,
            ngettext(
                "Lines are those of one seed.",
                "Lines are the mean of {seeds} seeds; bands run from the lowest seed to the highest.",
                config.seeds,
            ).format(seeds=config.seeds),
            _first_gradient(result),
        ),
    )


def _first_gradient(result: experiment.Result) -> str:
    """A sentence on the first step's gradient, before and after the factor that scaling itself brings."""
    config = result.config
    raw, scaled = (
        [
            float(gradient.mean())
            for gradient in (
                run.gradient[:, 0],
                *experiment.RetrievalHead(config, way).softmax_gradients(next(experiment.draw_labels(config))),
            )
        ]
        for way, run in result.runs.items()
        if way in ("raw", "sqrt")
    )
    return _(
        "The first gradient at queries and keys is {raw:.2g} raw and {scaled:.2g} scaled, but there the chain rule "
        "multiplies the scaled one by 1/√d_k = {factor:.3g}. At the logits, before that factor, it is {at_raw:.3g} "
        "raw and {at_scaled:.3g} scaled. What saturation costs shows in softmax’s Jacobian, which says how much of a "
        "change in the logits gets through: its mean norm is {jacobian_raw:.3f} raw and {jacobian_scaled:.3f} scaled."
    ).format(
        raw=raw[0],
        scaled=scaled[0],
        factor=1 / math.sqrt(config.d_k),
        at_raw=raw[1],
        at_scaled=scaled[1],
        jacobian_raw=raw[2],
        jacobian_scaled=scaled[2],
    )


BETWEEN_PICTURES = 0.5  #: seconds between two drawings while a training runs
PLAY = ":material/play_arrow:"


class PartialResult(Protocol):
    """A training's intermediate result: its progress and its measurements."""

    @property
    def config(self) -> Any: ...
    @property
    def done(self) -> int: ...
    @property
    def complete(self) -> bool: ...


R = TypeVar("R", bound=PartialResult)


def partial_result(name: str, config: Any) -> Any:
    """This visitor's unfinished training of this config; None if there is none."""
    partial = st.session_state.get(f"{name}_partial")
    return partial if partial is not None and partial.config == config else None


def draw_train_button(name: str, slot: DeltaGenerator, again: bool) -> bool:
    """Draw the button that begins; whether it was pressed, or the one that stands where a training has failed."""
    label = _("Start again") if again else _("Train")
    pressed = slot.button(label, type="primary", icon=PLAY, key=f"{name}_train")
    return pressed or bool(st.session_state.get(f"{name}_train_again", False))


def watch(
    name: str,
    config: Any,
    cache: BoundedCache[R],
    results: Callable[[], Generator[R]],
    draw: Callable[[R], None],
    places: tuple[DeltaGenerator, DeltaGenerator],
) -> R:
    """Train to the end, draw meanwhile, and return the end; `places` are those of the button and of the picture.

    Pressing Stop reruns the page, which finds what was trained so far in the session.
    """
    button, picture = places
    try:
        with button.container(horizontal=True, vertical_alignment="center"):
            st.button(_("Stop"), icon=":material/stop:", key=f"{name}_stop")
            bar = st.progress(0.0)
        with TRAININGS.turn(lambda ahead: bar.progress(0.0, trainings_ahead(ahead))):
            result = cache.find(config)  # by whoever was before in the line
            if result is None:
                result = _draw_training(name, results(), draw, bar, picture)
                cache.get(config, lambda: result)
    except Problem:  # as where too many wait
        button.button(_("Start again"), type="primary", icon=PLAY, key=f"{name}_train_again")
        raise
    button.empty()
    return result


def _draw_training(
    name: str, results: Generator[R], draw: Callable[[R], None], bar: DeltaGenerator, picture: DeltaGenerator
) -> R:
    last = 0.0
    with closing(results):
        for result in results:
            st.session_state[f"{name}_partial"] = result
            bar.progress(result.done / max(1, result.config.steps), describe_progress(result))
            if result.done and not result.complete and time.monotonic() - last > BETWEEN_PICTURES:
                last = time.monotonic()
                with picture.container():
                    draw(result)
    return result


def describe_progress(result: PartialResult) -> str:
    """The progress of a training in words."""
    return _("step {step} of {steps}").format(step=result.done, steps=result.config.steps)


def draw_stopped(result: PartialResult) -> None:
    """Draw where a training was stopped."""
    st.caption(_("Stopped at step {step} of {steps}.").format(step=result.done, steps=result.config.steps))
