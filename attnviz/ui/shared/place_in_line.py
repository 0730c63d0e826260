"""Waiting on a page: a visitor reads what he waits for, and whoever leaves the page stops waiting."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.ui.shared.streamlit_adapter import in_a_run, leave_if_gone
from attnviz.ui.shared.waiting_line import BETWEEN_LOOKS, WaitingLine
from attnviz.words import _, ngettext


@contextmanager
def turn_of(line: WaitingLine) -> Iterator[None]:
    """Inside the block it is this visitor's turn; until then his place in the line stands on the page."""
    said = _Said()
    with line.turn(lambda before: said.now(_place(before))):
        said.nothing()
        yield


def wait_for_another(made: Future[Any]) -> None:
    """Wait until what another visitor asked for is made, or given up."""
    said = _Said()
    while not made.done():
        if not wait([made], BETWEEN_LOOKS).done:
            said.now(_("Another visitor asked for the same just before; it is being computed."))
    said.nothing()


class _Said:
    """One line on the page, written only when it changes; nowhere, where no page is being drawn."""

    def __init__(self) -> None:
        self._where: DeltaGenerator | None = None
        self._what = ""

    def now(self, sentence: str) -> None:
        if not in_a_run():
            return
        leave_if_gone()
        if sentence == self._what:
            return
        if self._where is None:
            self._where = st.empty()
        self._where.info(sentence, icon="⏳")
        self._what = sentence

    def nothing(self) -> None:
        if self._where is not None:
            self._where.empty()


def _place(before: int) -> str:
    return ngettext(
        "{n} computation of another visitor is before yours, which begins by itself.",
        "{n} computations of other visitors are before yours, which begins by itself.",
        before,
    ).format(n=before)
