"""A long computation drawn as it comes: a little of it in each run of the page, with a bar and a button to stop.

A computation belongs to the visitor's session until it is done; the finished result is shared by all. What it does in
between waits for its turn each time, so that no other visitor's run waits for the whole of it. What is computed on
other machines needs none: here it only waits.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import streamlit as st

from attnviz.app import exports
from attnviz.app.cache import model_cache
from attnviz.app.cache.bounded_cache import BoundedCache
from attnviz.base.words import _

R = TypeVar("R")
FIRST_AFTER = 0.15  #: seconds of computing before there is a first picture, as soon as a part is there
AT_A_TIME = 0.5  #: the same later, before what has come so far is drawn
FINISHED_LIMIT = 160 * 10**6
_SESSION = "_live_runs"


@dataclass
class _Begun:
    """A computation under way: what it yields next, and what it yielded last."""

    coming: Iterator[Any]
    newest: Any = None
    stopped: bool = False


@dataclass(frozen=True)
class Live(Generic[R]):
    """What has come so far, and whether more is to come in the next run of the page."""

    result: R
    running: bool
    stopped: bool


@st.cache_resource(show_spinner=False)
def finished() -> BoundedCache[Any]:
    """Results that ran to their end, for all visitors."""
    return BoundedCache(FINISHED_LIMIT, lambda result: int(result.nbytes))


def advance(
    section: str,
    key: Hashable,
    begin: Callable[[], Iterator[R]],
    done: Callable[[R], bool],
    elsewhere: bool = False,
) -> Live[R]:
    """Go on with the computation of `key`, which replaces another one of the same section; a Problem passes through,
    and the next run of the page begins anew.

    The first part of it is always waited for, so that there is something to draw. `elsewhere` where other processes
    compute it.
    """
    found = finished().find((section, key))
    if found is not None:
        return Live(found, False, False)
    here = _of_session(section, key, begin)
    ends = time.monotonic() + (FIRST_AFTER if here.newest is None else AT_A_TIME)
    while here.newest is None or not (here.stopped or done(here.newest)):
        with nullcontext() if elsewhere else model_cache.part_of_long_work():
            here.newest = _next(section, here)
        if time.monotonic() > ends and not exports.for_a_command():
            break
    if done(here.newest):
        st.session_state[_SESSION].pop(section, None)
        result = here.newest
        finished().get((section, key), lambda: result)
        return Live(result, False, False)
    return Live(here.newest, not here.stopped, here.stopped)


def prepare(section: str, key: Hashable, begin: Callable[[], Iterator[Any]]) -> None:
    """Compute to the end before anybody asks, outside of any session; a visitor who comes earlier begins his own."""
    coming, newest, more = begin(), None, True
    while more:
        with model_cache.part_of_long_work():
            part = next(coming, None)
        newest, more = (newest, False) if part is None else (part, True)
    if newest is not None:
        finished().get((section, key), lambda: newest)


def controls(section: str, live: Live[Any], share: float, said: str) -> None:
    """Draw the bar and the button that stops or goes on; nothing for a computation that is done.

    Both ways it takes one place of the page, so that what is drawn below stays where it is when the bar goes.
    """
    place = st.container()
    if not live.running and not live.stopped:
        return
    with place, st.container(horizontal=True, vertical_alignment="center", key=f"live-{section}"):
        if live.running:
            st.button(
                _("Stop"), icon=":material/stop:", key=f"live_stop_{section}", on_click=_set, args=(section, True)
            )
        else:
            label = _("Go on")
            st.button(
                label, icon=":material/play_arrow:", key=f"live_go_{section}", on_click=_set, args=(section, False)
            )
        st.progress(min(1.0, share), said)


def again(live: Live[Any]) -> None:
    """Run the page again where more is to come. The last call of a panel: nothing below it would be drawn."""
    if live.running:
        st.rerun()


def _set(section: str, stopped: bool) -> None:
    """Stop or go on. A callback."""
    held = st.session_state.get(_SESSION, {}).get(section)
    if held is not None:
        held[1].stopped = stopped


def _next(section: str, here: _Begun) -> Any:
    try:
        return next(here.coming)
    except Exception:  # it yields no more after this, and would hold its section for ever
        st.session_state[_SESSION].pop(section, None)
        raise


def _of_session(section: str, key: Hashable, begin: Callable[[], Iterator[R]]) -> _Begun:
    held: dict[str, tuple[Hashable, _Begun]] = st.session_state.setdefault(_SESSION, {})
    if section not in held or held[section][0] != key:
        held[section] = key, _Begun(begin())
    return held[section][1]
