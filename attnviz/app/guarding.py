"""An error in one panel becomes a sentence in its place; the rest of the page goes on working."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from attnviz.app.mends.streamlit_adapter import is_streamlits
from attnviz.app.text import plain
from attnviz.base.message import Problem
from attnviz.base.words import _, say
from attnviz.models.file_faults import first_line, lacks_memory

log = logging.getLogger("attnviz")


def show_problem(problem: Exception) -> None:
    """Show a Problem, or any other exception, as a sentence in a red box."""
    st.error(plain(say(problem.message) if isinstance(problem, Problem) else str(problem)), icon="✋")


@contextmanager
def guard() -> Iterator[None]:
    """Show a Problem that is raised inside as a sentence.

    So is a lack of memory. Any other error is a bug or a broken disk: it is logged, and the panel says so.
    """
    try:
        yield
    except Problem as problem:
        show_problem(problem)
    except Exception as defect:
        if is_streamlits(defect):
            raise  # Streamlit stops and reruns a script by raising exceptions of its own
        if lacks_memory(defect):
            log.warning("no memory was left for a panel")
            show_problem(
                Problem("There is not enough memory left for this. A shorter sentence or a smaller model takes less.")
            )
            return
        log.exception("a panel failed")
        st.error(
            _("This panel failed: {what}. The rest of the page still works.").format(
                what=plain(f"{type(defect).__name__}: {first_line(defect)}")
            ),
            icon="🛠️",
        )
