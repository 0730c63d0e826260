"""A panel of a page: an error in it becomes a sentence in its place, and its own controls can run it again alone."""

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec

import streamlit as st

from attnviz.app.links import link_state
from attnviz.app.text import escape_markdown, translate_markdown
from attnviz.app.widget_values import set_when_complete
from attnviz.app.workarounds.streamlit_adapter import current_fragment, is_streamlit_exception
from attnviz.base.message import Message, MissingDependency, Problem
from attnviz.base.words import _, translate_message
from attnviz.canvas.shared.component import publishing
from attnviz.models.file_faults import first_line, is_out_of_memory

log = logging.getLogger("attnviz")

P = ParamSpec("P")
_INSIDE: ContextVar[bool] = ContextVar("inside a fragment", default=False)


def show_problem(problem: Exception) -> None:
    """Show a Problem, or any other exception, as a sentence in a red box; in a blue one what is only missing."""
    text = escape_markdown(translate_message(problem.message) if isinstance(problem, Problem) else str(problem))
    if isinstance(problem, MissingDependency):
        st.info(text)
    else:
        st.error(text, icon=":material/error:")


def show_notices(notices: Iterable[Message]) -> None:
    """Show notices about what is displayed, each in a blue box."""
    for notice in notices:
        st.info(translate_markdown(notice))


@contextmanager
def show_problems() -> Iterator[None]:
    """Show a Problem that is raised inside as a sentence.

    So is a lack of memory. Any other error is a bug or a broken disk: it is logged, and the panel says so.
    """
    try:
        yield
    except Problem as problem:
        show_problem(problem)
    except Exception as defect:
        if is_streamlit_exception(defect):
            raise  # Streamlit stops and reruns a script by raising exceptions of its own
        if is_out_of_memory(defect):
            log.warning("no memory was left for a panel")
            show_problem(
                Problem("There is not enough memory left for this. A shorter sentence or a smaller model takes less.")
            )
            return
        log.exception("a panel failed")
        st.error(
            _("This panel failed: {what}. The rest of the page still works.").format(
                what=escape_markdown(f"{type(defect).__name__}: {first_line(defect)}")
            ),
            icon=":material/build:",
        )


def fragment(draw: Callable[P, None]) -> Callable[P, None]:
    """`draw` as Streamlit's fragment, or as it is where it is called inside of one: never one inside another.

    Streamlit 1.67 loses messages of a fragment inside a fragment when two gestures come within the time that a busy
    server needs to send, and the browser then stops at "Cannot set a node at a delta path". So a part inside a part is
    drawn as plain lines of it, and its controls run the part around it again. Words for a report: "nested fragments,
    Cannot set a node at a delta path after two quick reruns".
    """

    @wraps(draw)
    def draw_tracked(*args: P.args, **kwargs: P.kwargs) -> None:
        before = _INSIDE.set(True)
        try:
            with set_when_complete(), publishing(current_fragment(), link_state.handed_on_link):
                draw(*args, **kwargs)
        finally:
            _INSIDE.reset(before)

    draw_as_fragment = st.fragment(draw_tracked)

    @wraps(draw)
    def draw_panel(*args: P.args, **kwargs: P.kwargs) -> None:
        (draw_tracked if _INSIDE.get() else draw_as_fragment)(*args, **kwargs)

    return draw_panel
