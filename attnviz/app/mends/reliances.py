"""What we lean on in Streamlit that its documentation does not promise, what for, and a check of each.

A change of what it does promise raises an error; a change of these would go unnoticed. The server logs what is gone.
"""

from __future__ import annotations

import inspect
import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit import config, errors

from attnviz.app.mends import whole_callbacks
from attnviz.app.mends.streamlit_adapter import upload_id
from attnviz.base.reliance import Reliance, gone

log = logging.getLogger("attnviz")

FRONTEND = Path(st.__file__).parent / "static"  #: the files that the browser is sent


@cache
def log_what_is_gone() -> None:
    """Log what is missing, once a process: the app goes on, and its operator knows why it looks or acts strangely.

    In a thread of its own: the frontend is 23 MB to look through, and the first visitor should not wait for it.
    """
    threading.Thread(target=_log_what_is_gone, name="attnviz-streamlit-check", daemon=True).start()


def _log_what_is_gone() -> None:
    for message in gone(RELIANCES):
        log.error("%s", message)


def in_frontend(text: str) -> Callable[[], bool]:
    """A check that some script or style sheet of the frontend has `text`."""
    return lambda: any(
        text.encode() in file.read_bytes() for kind in ("*.js", "*.css") for file in sorted(FRONTEND.rglob(kind))
    )


def _steering_is_an_error_class() -> bool:
    return issubclass(errors.StreamlitAPIException, errors.Error) and issubclass(errors.Error, Exception)


def _uploads_have_ids() -> bool:
    from streamlit.runtime import uploaded_file_manager as theirs

    record: Any = theirs.UploadedFileRec(file_id="first", name="view.json", type="application/json", data=b"{}")
    nowhere: Any = None
    return upload_id(theirs.UploadedFile(record, nowhere)) == "first"


def _options_can_be_set() -> bool:
    return callable(config.is_manually_set) and len(inspect.signature(config.set_option).parameters) == 3


def _run_has(name: str) -> Callable[[], bool]:
    def check() -> bool:
        from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext

        return name in inspect.signature(ScriptRunContext).parameters or hasattr(ScriptRunContext, name)

    return check


def _changes_can_be_counted() -> bool:
    from streamlit.runtime.state.session_state import SessionState

    return callable(getattr(SessionState, "_widget_changed", None)) and hasattr(SessionState(), "_new_widget_state")


def _a_look_may_end_a_run() -> bool:
    from streamlit.runtime.state.safe_session_state import SafeSessionState

    asked = []
    nothing: Any = {}
    with suppress(KeyError):
        SafeSessionState(nothing, lambda: asked.append(1))["_gone"]
    return bool(asked)


def _loggers_are_set_up_by_name() -> bool:
    from streamlit import logger as loggers

    makers = (loggers.get_logger, loggers.update_formatter)
    return all("setup_formatter" in maker.__code__.co_names for maker in makers)


def _app_takes() -> bool:
    return {"lifespan", "middleware", "routes"} <= set(inspect.signature(st.App).parameters)


_OURS = partial(Reliance, "streamlit")
_STYLE, _FIGURE, _LINK = "attnviz/app/app.css", "attnviz/app/embedded_figure.py", "attnviz/app/links/link_state.py"
_PRESENTED = "attnviz/app/presenting.css"

#: what our style sheets call by the id that Streamlit gives it for its own tests: the id, who does, and what for
STYLED = (
    ("stSidebar", _PRESENTED, "no menu beside a presentation"),
    ("stHeader", _PRESENTED, "no bar above a presentation"),
    ("stExpandSidebarButton", _PRESENTED, "no button over a presentation"),
    ("stLayoutWrapper", _PRESENTED, "no heading above a presentation"),
    ("stElementContainer", _FIGURE, "a figure alone inside another page"),
    ("stAlertContainer", _FIGURE, "a refusal beside a figure inside another page"),
    ("stColumn", _FIGURE, "no empty column beside a figure inside another page"),
    ("stPopoverBody", _STYLE, "menus that keep their height near the window's edge"),
    ("stButtonGroup", _STYLE, "rows of buttons that wrap whole and stand level with boxes"),
    ("stFileUploaderDropzoneInstructions", "attnviz/pages/pictures/pictures.css", "a picture's own limit alone"),
    ("stElementToolbar", _STYLE, "tables whose tools cover nothing"),
    ("stSkeleton", _STYLE, "boxes that keep their height until they are drawn"),
    ("InputInstructions", _STYLE, "texts that do not ask for Ctrl+Enter"),
)

#: other words that must stand in the frontend: what they are there, the words, who needs them, and what for
WORDS = (
    ("the class .stMainBlockContainer", "stMainBlockContainer", _STYLE, "the space around a page"),
    ("the class .katex-display", "katex-display", _STYLE, "wide formulas on a phone"),
    ("the attribute data-variant", '"data-variant":', _STYLE, "the chosen button of a row being readable in dark"),
    (
        "the theme that a visitor chose, by the page's path",
        "stActiveTheme-${window.location.pathname}",
        "attnviz/serve/before_streamlit.js",
        "light or dark by the link",
    ),
)

RELIANCES: tuple[Reliance, ...] = (
    _OURS(
        "errors.Error above all its errors",
        "attnviz/app/guarding.py",
        "telling Streamlit's own errors from a panel's",
        _steering_is_an_error_class,
    ),
    _OURS(
        "UploadedFile.file_id",
        "attnviz/app/share_menu.py",
        "opening a saved view once, and again when it is chosen again",
        _uploads_have_ids,
    ),
    _OURS(
        "ScriptRunContext.is_history_navigation",
        _LINK,
        "believing the link after Back and Forward alone",
        _run_has("is_history_navigation"),
    ),
    _OURS(
        "ScriptRunContext.page_script_hash",
        _LINK,
        "knowing that a gesture leaves for another page",
        _run_has("page_script_hash"),
    ),
    _OURS(
        "SessionState._new_widget_state and SessionState._widget_changed(id)",
        "attnviz/app/late_widgets.py",
        "a gesture made at once with another one not undoing it",
        _changes_can_be_counted,
    ),
    _OURS(
        "config.is_manually_set and config.set_option(key, value, where)",
        "attnviz/serve/configuration.py",
        "the app's theme and limits where its settings do not lie beside the script that is run",
        _options_can_be_set,
    ),
    _OURS(
        "SessionState._call_callbacks and ScriptRunner._maybe_handle_execution_control_request",
        "attnviz/app/mends/whole_callbacks.py",
        "gestures in quick succession, which all count",
        whole_callbacks.has_what_it_needs,
    ),
    _OURS(
        "SafeSessionState, which may end a run at each look into it",
        "attnviz/app/cache/waiting_line.py",
        "visitors who have left not being waited for",
        _a_look_may_end_a_run,
    ),
    _OURS(
        "logger.get_logger and logger.update_formatter, which ask logger.setup_formatter",
        "attnviz/serve/log_lines.py",
        "a log without a word of any visitor",
        _loggers_are_set_up_by_name,
    ),
    _OURS("App(lifespan=, middleware=, routes=)", "app.py", "warming up and serving files", _app_takes),
    *(_OURS(f"{what} in its frontend", user, purpose, in_frontend(words)) for what, words, user, purpose in WORDS),
    *(
        _OURS(f"data-testid={name} in its frontend", user, purpose, in_frontend(f'"data-testid":`{name}`'))
        for name, user, purpose in STYLED
    ),
)
