"""Undocumented parts of Streamlit that the app needs, their purposes, and a check of each.

A change of what it does promise raises an error; a change of these would go unnoticed. The server logs what is gone.
"""

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from importlib import import_module
from inspect import signature
from operator import attrgetter
from typing import Any

from streamlit import config

from attnviz.app.workarounds import log_format, streamlit_adapter, whole_callbacks
from attnviz.base.undocumented_dependency import Dependency, missing_dependencies


@cache
def log_missing_parts() -> None:
    """Log what is missing, once a process: the app goes on, and its operator knows why it looks or acts strangely.

    In a thread of its own: the frontend is 23 MB to look through, and the first visitor should not wait for it.
    """

    def look() -> None:
        for message in missing_dependencies(DEPENDENCIES):
            logging.getLogger("attnviz").error("%s", message)

    threading.Thread(target=look, name="attnviz-streamlit-check", daemon=True).start()


def frontend_has(text: str) -> bool:
    """Whether some script or style sheet of the frontend has `text`."""
    files = (file for file in streamlit_adapter.FRONTEND.rglob("*") if file.suffix in (".js", ".css"))
    return any(text.encode() in file.read_bytes() for file in files)


def _has(module: str, *names: str) -> bool:
    """True; it raises where a module of Streamlit has not all of these names."""
    attrgetter(*names)(import_module(f"streamlit.{module}"))
    return True


def _uploads_have_ids() -> bool:
    from streamlit.runtime.uploaded_file_manager import UploadedFile, UploadedFileRec

    record: Any = UploadedFileRec(file_id="first", name="view.json", type="application/json", data=b"{}")
    return streamlit_adapter.upload_id(UploadedFile(record, record)) == "first"


def _session_access_may_end_run() -> bool:
    from streamlit.runtime.state.safe_session_state import SafeSessionState

    looks: list[int] = []
    nothing: Any = {}
    with suppress(KeyError):
        SafeSessionState(nothing, lambda: looks.append(1))["_gone"]
    return bool(looks)


_RUN = "runtime.scriptrunner_utils.script_run_context"
_STYLE, _PRESENTED, _FIGURE = "app/app.css", "app/presenting.css", "app/share_menu.py"

#: a name in Streamlit, our file that needs it, what for, and how to see that it is there
NAMES: tuple[tuple[str, str, str, Callable[[], bool]], ...] = (
    ("UploadedFile.file_id", "app/share_menu.py", "opening a saved view once, and again when it is chosen again",
     _uploads_have_ids),
    ("ScriptRunContext.is_history_navigation", "app/links/link_state.py",
     "believing the link after Back and Forward alone", partial(_has, _RUN, "ScriptRunContext.is_history_navigation")),
    ("ScriptRunContext.page_script_hash", "app/links/link_state.py",
     "knowing that a gesture leaves for another page", partial(_has, _RUN, "ScriptRunContext.page_script_hash")),
    ("SessionState._new_widget_state and _widget_changed", "app/widget_values.py", "a gesture not undoing another one",
     partial(_has, "runtime.state.session_state", "SessionState._new_widget_state", "SessionState._widget_changed")),
    ("config.is_manually_set and set_option", "serve/configuration.py", "settings where the script lies elsewhere",
     lambda: callable(config.is_manually_set) and len(signature(config.set_option).parameters) == 3),
    ("SessionState._call_callbacks and what ends them", "app/workarounds/whole_callbacks.py",
     "gestures in quick succession, which all count", whole_callbacks.is_compatible),
    ("SafeSessionState, which may end a run at each look into it", "app/cache/waiting_line.py",
     "visitors who have left not being waited for", _session_access_may_end_run),
    ("logger.setup_formatter, which sets all loggers up", "serve/log_lines.py",
     "a log without a word of any visitor", log_format.is_compatible),
    ("MemoryUploadedFileManager.remove_file", "serve/incoming.py", "a bound on what a visitor uploads",
     partial(_has, "runtime.memory_uploaded_file_manager", "MemoryUploadedFileManager.remove_file")),
    ("rerun_script and script_finished in its protocol", "serve/watching.py", "metrics of how long answers take",
     streamlit_adapter.reports_runs),
)  # fmt: skip

#: words that must stand in its frontend: what they are there, the words or the id that it gives for its own tests,
#: the style sheet or script of ours that needs them, and what for
FRONTEND_STRINGS = (
    ("the class .stMainBlockContainer", "stMainBlockContainer", _STYLE, "the space around a page"),
    ("the class .katex-display", "katex-display", _STYLE, "wide formulas on a phone"),
    ("the attribute data-variant", '"data-variant":', _STYLE, "the chosen button of a row being readable in dark"),
    ("what it asks the system's theme by", "window.matchMedia(`(prefers-color-scheme: dark)`)",
     "serve/before_streamlit.js", "light or dark by the link and, while one presents, by a button"),
    *((f"data-testid={name}", f'"data-testid":`{name}`', user, purpose) for name, user, purpose in (
        ("stSidebar", _PRESENTED, "no menu beside a presentation"),
        ("stHeader", _PRESENTED, "no bar above a presentation"),
        ("stExpandSidebarButton", _PRESENTED, "no button over a presentation"),
        ("stLayoutWrapper", _PRESENTED, "no heading above a presentation"),
        ("stElementContainer", _FIGURE, "a figure alone inside another page"),
        ("stAlertContainer", _FIGURE, "a refusal beside a figure inside another page"),
        ("stColumn", _FIGURE, "no empty column beside a figure inside another page"),
        ("stPopoverBody", _STYLE, "menus that keep their height near the window's edge"),
        ("stButtonGroup", _STYLE, "rows of buttons that wrap whole and stand level with boxes"),
        ("stFileUploaderDropzoneInstructions", "pages/pictures/pictures.css", "a picture's own limit alone"),
        ("stElementToolbar", _STYLE, "tables whose tools cover nothing"),
        ("stSkeleton", _STYLE, "boxes that keep their height until they are drawn"),
        ("InputInstructions", _STYLE, "texts that do not ask for Ctrl+Enter"),
    )),
)  # fmt: skip

_STREAMLITS = partial(Dependency, "streamlit")
DEPENDENCIES = (
    *(_STREAMLITS(what, f"attnviz/{user}", purpose, holds) for what, user, purpose, holds in NAMES),
    *(
        _STREAMLITS(f"{what} in its frontend", f"attnviz/{user}", purpose, partial(frontend_has, text))
        for what, text, user, purpose in FRONTEND_STRINGS
    ),
)
