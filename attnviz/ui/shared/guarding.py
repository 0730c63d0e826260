"""Trouble in one panel is one sentence there; the rest of the page lives."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from attnviz.core.message import Problem
from attnviz.ui.shared.streamlit_adapter import is_streamlits
from attnviz.ui.shared.text import plain
from attnviz.words import _, say

log = logging.getLogger("attnviz")


def show_problem(problem: Exception) -> None:
    """One clear sentence for what went wrong."""
    sentence = say(problem.message) if isinstance(problem, Problem) else str(problem)
    st.error(plain(sentence), icon="✋")


@contextmanager
def guard() -> Iterator[None]:
    """Show a Problem raised inside as a sentence. Anything else is a defect of ours: logged, and said so."""
    try:
        yield
    except Problem as problem:
        show_problem(problem)
    except (
        ArithmeticError,
        AssertionError,
        AttributeError,
        LookupError,
        RuntimeError,
        TypeError,
        ValueError,
    ) as defect:
        if is_streamlits(defect):
            raise
        log.exception("a panel failed")
        st.error(
            _("This panel failed: {what}. The rest of the page still works.").format(
                what=plain(f"{type(defect).__name__}: {defect}")
            ),
            icon="🛠️",
        )
