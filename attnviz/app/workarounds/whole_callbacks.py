"""A gesture's callback runs to its end, also where the next gesture has arrived by then.

Seen in Streamlit 1.67: it looks for a newer gesture whenever a script asks the session or sends something, and ends
what runs, callbacks too. Of four quick presses of a key one had been counted as taken and was never walked, and a value
was set that never reached the link. Words for a report: "rerun request interrupts on_change callback, session state is
left half updated". A callback is short; the newer gesture is answered right after it.
"""

import inspect
import threading
from functools import wraps
from typing import Any

RUN_CALLBACKS, CHECK_FOR_RERUN = "_call_callbacks", "_maybe_handle_execution_control_request"
_THREAD = threading.local()


def let_callbacks_finish() -> None:
    """Patch Streamlit so that a newer gesture no longer ends a callback that runs."""
    from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
    from streamlit.runtime.state.session_state import SessionState

    calls, looks = getattr(SessionState, RUN_CALLBACKS), getattr(ScriptRunner, CHECK_FOR_RERUN)

    @wraps(calls)
    def call_callbacks(state: Any, *args: Any, **named: Any) -> Any:
        _THREAD.calling = True
        try:
            return calls(state, *args, **named)
        finally:
            _THREAD.calling = False

    @wraps(looks)
    def look_for_newer(runner: Any) -> None:
        if not getattr(_THREAD, "calling", False):
            looks(runner)

    setattr(SessionState, RUN_CALLBACKS, call_callbacks)
    setattr(ScriptRunner, CHECK_FOR_RERUN, look_for_newer)


def is_compatible() -> bool:
    """Whether Streamlit still runs its callbacks in one method, and looks for newer gestures in another."""
    try:
        from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
        from streamlit.runtime.state.session_state import SessionState
    except ImportError:
        return False
    looks = f"self.{CHECK_FOR_RERUN}" in inspect.getsource(ScriptRunner.__init__)
    return (
        looks
        and callable(getattr(SessionState, RUN_CALLBACKS, None))
        and callable(getattr(ScriptRunner, CHECK_FOR_RERUN, None))
    )
