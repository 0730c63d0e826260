"""Draw a training while it runs, with a progress bar and a stop button; its result is cached for all visitors.

`name` begins the keys of its buttons and of what a visitor's session holds of it.
"""

import time
from collections.abc import Callable, Generator
from contextlib import closing
from typing import Any, Protocol, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.app.cache.bounded_cache import BoundedCache
from attnviz.app.cache.waiting_line import TRAININGS, trainings_ahead
from attnviz.base.message import Problem
from attnviz.base.words import _

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
