"""Run a long computation a little in each run of the page, with a progress bar and a stop button.

A computation belongs to the visitor's session until it is done; the finished result is shared by all. What it does in
between waits for its turn each time, so that no other visitor's run waits for the whole of it. What is computed on
other machines needs none: here it only waits.
"""

import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar, cast

import streamlit as st

from attnviz.app import exports
from attnviz.app.cache import model_cache
from attnviz.app.cache.bounded_cache import BoundedCache, count_bytes
from attnviz.base.words import _

R = TypeVar("R")
FIRST_AFTER = 0.15  #: seconds of computing before there is a first picture, as soon as a part is there
AT_A_TIME = 0.5  #: the same later, before what has come so far is drawn
UNTIL_SENT = 0.05  #: seconds: what is drawn and not yet sent is dropped where a run asks for another
FINISHED_LIMIT = 160 * 10**6
_SESSION = "_live_runs"


@dataclass
class _Computation:
    """A running computation of `key`: its iterator, and its last result."""

    key: Hashable
    results: Iterator[Any]
    newest: Any = None
    stopped: bool = False


@dataclass(frozen=True)
class LiveRun(Generic[R]):
    """The newest result, and whether the next run of the page continues the computation."""

    result: R
    running: bool
    stopped: bool


@cache
def finished_results() -> BoundedCache[Any]:
    """Results that ran to their end, for all visitors."""
    return BoundedCache(FINISHED_LIMIT, count_bytes)


def advance(
    section: str,
    key: Hashable,
    begin: Callable[[], Iterator[R]],
    done: Callable[[R], bool],
    is_remote: bool = False,
) -> LiveRun[R]:
    """Go on with the computation of `key`, which replaces another one of the same section; a Problem passes through,
    and the next run of the page begins anew.

    The first part of it is always waited for, so that there is something to draw. `remote_engine` where other processes
    compute it.
    """
    notices = st.container()  # loading and waiting are said in one place, so that the bar below stays where it is
    result = finished_results().find((section, key))
    if result is not None:
        return LiveRun(result, False, False)
    computations = _computations()
    with notices:
        if section not in computations or computations[section].key != key:
            computations[section] = _Computation(key, begin())
    here = computations[section]
    ends = time.monotonic() + (FIRST_AFTER if here.newest is None else AT_A_TIME)
    while here.newest is None or not (here.stopped or done(here.newest)):
        try:
            with notices, nullcontext() if is_remote else model_cache.wait_for_step():
                here.newest = next(here.results)
        except Exception:  # it yields no more after this, and would hold its section for ever
            computations.pop(section, None)
            raise
        # a command runs the page once, and wants what a visitor sees grow whole
        if time.monotonic() > ends and exports.GATHERING not in st.session_state:
            break
    if not done(here.newest):
        return LiveRun(here.newest, not here.stopped, here.stopped)
    computations.pop(section, None)
    return LiveRun(finished_results().get((section, key), lambda: here.newest), False, False)


def prepare(section: str, key: Hashable, begin: Callable[[], Iterator[Any]]) -> None:
    """Compute to the end before anybody asks, outside of any session; a visitor who comes earlier begins his own."""
    coming, newest, more = begin(), None, True
    while more:
        with model_cache.wait_for_step():
            result = next(coming, None)
        newest, more = (newest, False) if result is None else (result, True)
    if newest is not None:
        finished_results().get((section, key), lambda: newest)


def draw_progress(section: str, live: LiveRun[Any], share: float, text: str) -> None:
    """Draw the bar and the button that stops or goes on; nothing for a computation that is done.

    Both ways it takes one place of the page, so that what is drawn below stays where it is when the bar goes.
    """
    container = st.container()
    if not live.running and not live.stopped:
        return
    with container, st.container(horizontal=True, vertical_alignment="center", key=f"live-{section}"):
        stop, go_on = (_("Stop"), "stop", "stop"), (_("Go on"), "play_arrow", "go")
        label, icon, name = stop if live.running else go_on
        key = f"live_{name}_{section}"
        st.button(label, icon=f":material/{icon}:", key=key, on_click=_set_stopped, args=(section, live.running))
        st.progress(min(1.0, share), text)


def rerun_if_running(live: LiveRun[Any]) -> None:
    """Run the page again where more is to come. The last call of a panel: nothing below it would be drawn."""
    if live.running:
        time.sleep(UNTIL_SENT)
        st.rerun()


def _set_stopped(section: str, stopped: bool) -> None:
    """Stop or go on. A callback."""
    if section in _computations():
        _computations()[section].stopped = stopped


def _computations() -> dict[str, _Computation]:
    """This visitor's unfinished computations, by section."""
    return cast(dict[str, _Computation], st.session_state.setdefault(_SESSION, {}))
