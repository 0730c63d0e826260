"""A callback is not ended half-way by a gesture that arrives while it runs."""

from typing import Any

import pytest
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.runtime.state.session_state import SessionState
from streamlit.testing.v1 import AppTest

from attnviz.app.workarounds import whole_callbacks


def script() -> None:
    import streamlit as st
    from streamlit.runtime.scriptrunner import RerunData, get_script_run_ctx

    def pressed() -> None:
        run = get_script_run_ctx()
        assert run is not None
        assert run.script_requests is not None
        st.session_state["taken"] = 1
        run.script_requests.request_rerun(RerunData())  # the next gesture
        st.session_state["walked"] = 1

    st.button("walk", key="walk", on_click=pressed)


def pressed() -> Any:
    app = AppTest.from_function(script, default_timeout=60).run()
    return app.button(key="walk").click().run()


@pytest.fixture
def unmended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit's own, also where another test of this process has begun the app."""
    for owner, name in ((SessionState, whole_callbacks.RUN_CALLBACKS), (ScriptRunner, whole_callbacks.CHECK_FOR_RERUN)):
        now = getattr(owner, name)
        monkeypatch.setattr(owner, name, getattr(now, "__wrapped__", now))


@pytest.mark.usefixtures("unmended")
def test_streamlit_alone_ends_a_callback_half_way() -> None:
    """As long as this passes the mend is needed; the day it fails, take the mend out."""
    app = pressed()
    assert app.session_state["taken"] == 1
    assert "walked" not in app.session_state


def test_a_callback_is_run_to_its_end_and_the_next_gesture_is_answered() -> None:
    import attnviz.serve.server  # noqa: F401  # importing it is what mends

    assert getattr(SessionState, whole_callbacks.RUN_CALLBACKS).__code__.co_filename == whole_callbacks.__file__
    assert whole_callbacks.is_compatible()
    app = pressed()
    assert app.session_state["taken"] == app.session_state["walked"] == 1
    assert not app.exception
