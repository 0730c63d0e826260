"""Access to undocumented parts of Streamlit. Each function has a fallback where the part is gone.

Private names are imported inside: an upgrade that takes one away costs what `compatibility_checks.py` says of it,
not the start.
"""

import threading
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import streamlit as st
from streamlit import config

FRONTEND = Path(st.__file__).parent / "static"  #: the files that the browser is sent
WARNS_OF_NO_BROWSER = "streamlit.runtime.scriptrunner_utils.script_run_context"  #: a logger, in every run of a command
# Streamlit 1.67 times no run, its web socket tells of them. Words for a request: "metrics endpoint, duration of runs".
LONGEST_END = 100  #: bytes; the message that ends a run is shorter, and longer ones are not read
ANSWERED = ("FINISHED_SUCCESSFULLY", "FINISHED_FRAGMENT_RUN_SUCCESSFULLY")
FOR_ANOTHER = "FINISHED_EARLY_FOR_RERUN"
ERRORS = "streamlit.error_util"  #: the logger that is told of a run which ended with an error that no page caught
SESSION = "_attnviz"  #: under which all that the app itself notes of a visitor lies in Streamlit's session
_THREAD_CACHE = threading.local()  #: what a thread has read of the session that it runs for


def run_of_this_thread() -> Any:
    """Streamlit's record of the run that this thread makes for a visitor; None outside: there is no session then."""
    try:
        from streamlit.runtime.scriptrunner import get_script_run_ctx
    except ImportError:
        return None
    return get_script_run_ctx(suppress_warning=True)


def is_streamlit_exception(error: Exception) -> bool:
    """Whether Streamlit raised this to steer or to complain; `st.stop` and `st.rerun` are no Exceptions at all."""
    return any(cls.__module__.startswith("streamlit.") for cls in type(error).__mro__)


def upload_id(uploaded: Any) -> str:
    """Another one each time a visitor chooses a file, the same file too where Streamlit tells them apart."""
    return str(getattr(uploaded, "file_id", f"{uploaded.name} {uploaded.size}"))


def is_history_navigation() -> bool:
    """Whether the browser's Back or Forward asked for this run, and not a gesture on the page.

    True where Streamlit no longer says it: a link that differs from what was written is then always believed.
    """
    return bool(getattr(run_of_this_thread(), "is_history_navigation", True))


def page_id() -> str:
    """A name for the page of this run; in a callback, of the page that the run is going to draw."""
    return str(getattr(run_of_this_thread(), "page_script_hash", ""))


def current_fragment() -> str | None:
    """Streamlit's name for the fragment that runs now, alone or in a run of its page; None outside of fragments."""
    with suppress(ImportError, AttributeError, RuntimeError):
        from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState

        return ThreadState.get().fragment_id
    return None


def browser_language() -> str | None:
    """The language that the visitor's browser asks for, read once a run: a page asks for it often."""
    sent = getattr(run_of_this_thread(), "context_info", None)
    if sent is None:
        return st.context.locale
    if getattr(_THREAD_CACHE, "sent", None) is not sent:
        _THREAD_CACHE.sent, _THREAD_CACHE.locale = sent, st.context.locale
    return cast("str | None", _THREAD_CACHE.locale)


def app_session() -> dict[str, Any]:
    """The app's own session values of this visitor by name, all under one key of Streamlit's session.

    Read once by each thread that runs for a visitor: to ask Streamlit's session takes as long as a hundred looks into
    the dictionary, a page looks a thousand times, and for most widgets Streamlit goes through all keys.
    """
    run = run_of_this_thread()
    if run is None:
        return cast(dict[str, Any], st.session_state.setdefault(SESSION, {}))
    if getattr(_THREAD_CACHE, "session", None) is not run.session_state:
        _THREAD_CACHE.session, _THREAD_CACHE.app_session = run.session_state, st.session_state.setdefault(SESSION, {})
    return cast(dict[str, Any], _THREAD_CACHE.app_session)


def session_dict(key: str) -> dict[str, Any]:
    """A dictionary that this visitor's session keeps under `key`, empty at first."""
    return cast(dict[str, Any], app_session().setdefault(key, {}))


def count_changed_widgets() -> int:
    """How many widgets the browser reported as changed in what it sent for this run. Ask in a callback.

    0 where Streamlit no longer says it: then only the browser's address says whether a gesture was late.
    """
    state = getattr(getattr(run_of_this_thread(), "session_state", None), "_state", None)
    sent, changed = getattr(state, "_new_widget_state", None), getattr(state, "_widget_changed", None)
    return 0 if sent is None or changed is None else sum(bool(changed(widget_id)) for widget_id in list(sent))


def sent_keys() -> set[str]:
    """Keys of the widgets whose values the browser sent for this run; none where Streamlit no longer says it."""
    state = getattr(getattr(run_of_this_thread(), "session_state", None), "_state", None)
    return {str(widget_id).split("-", 2)[-1] for widget_id in getattr(state, "_new_widget_state", ())}


def leave_if_gone() -> None:
    """End this run here where its visitor has left or asked for another one. For loops that draw nothing."""
    st.session_state.get("_gone")  # each look into it is a place where Streamlit may end a run


def set_where_default(name: str, value: Any, where: str) -> None:
    """Set an option of Streamlit that no file, flag or variable has set; none where Streamlit does not say which."""
    is_set = getattr(config, "is_manually_set", None)
    if is_set is not None and not is_set(name):
        config.set_option(name, value, where)


def parse_message(data: bytes) -> Any:
    """A visitor's message as Streamlit's protobuf; None where it cannot be parsed, which Streamlit answers."""
    from google.protobuf.message import DecodeError
    from streamlit.proto.BackMsg_pb2 import BackMsg

    try:
        return BackMsg.FromString(data)
    except DecodeError:
        return None


def run_outcome(data: bytes) -> str | None:
    """How a run ended, by Streamlit's own name, if this message of the server's says so."""
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

    if len(data) > LONGEST_END:
        return None
    message = ForwardMsg.FromString(data)
    ended = message.WhichOneof("type") == "script_finished"
    return ForwardMsg.ScriptFinishedStatus.Name(message.script_finished) if ended else None


def reports_runs() -> bool:
    """Whether Streamlit's protocol still has both messages."""
    with suppress(ImportError):
        from streamlit.proto.BackMsg_pb2 import BackMsg
        from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

        fields = {*BackMsg.DESCRIPTOR.fields_by_name, *ForwardMsg.DESCRIPTOR.fields_by_name}
        return {"rerun_script", "script_finished"} <= fields and hasattr(ForwardMsg, "ScriptFinishedStatus")
    return False
