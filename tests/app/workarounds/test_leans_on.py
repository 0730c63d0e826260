"""The installed Streamlit still has what we lean on; and were any of it gone, its check would name it."""

import logging

import pytest
import streamlit as st
from streamlit import config
from streamlit import logger as streamlit_logger
from streamlit.proto import BackMsg_pb2, Empty_pb2
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner_utils import script_run_context
from streamlit.runtime.state.safe_session_state import SafeSessionState
from streamlit.runtime.state.session_state import SessionState
from streamlit.runtime.uploaded_file_manager import UploadedFile
from streamlit.testing.v1 import AppTest

from attnviz.app.workarounds import compatibility_checks, streamlit_adapter
from attnviz.app.workarounds.compatibility_checks import DEPENDENCIES
from attnviz.base.undocumented_dependency import missing_dependencies
from tests.waiting import until

NAMED = {dependency.what: dependency for dependency in DEPENDENCIES}


@pytest.mark.parametrize("dependency", NAMED.values(), ids=NAMED)
def test_the_installed_version_still_has(dependency):
    assert [str(message) for message in missing_dependencies([dependency])] == []


class OtherContext:
    """A run's context that knows neither its page nor who asked for it."""


def without_id(self, record, file_urls):
    self.name, self.size = record.name, 0


#: what is gone in each case; else it is a class name of the frontend
TAKEN_AWAY = {
    "UploadedFile.file_id": lambda m: m.setattr(UploadedFile, "__init__", without_id),
    "ScriptRunContext.is_history_navigation": lambda m: m.setattr(script_run_context, "ScriptRunContext", OtherContext),
    "ScriptRunContext.page_script_hash": lambda m: m.setattr(script_run_context, "ScriptRunContext", OtherContext),
    "SessionState._new_widget_state and _widget_changed": lambda m: m.delattr(SessionState, "_widget_changed"),
    "config.is_manually_set and set_option": lambda m: m.delattr(config, "is_manually_set"),
    "SessionState._call_callbacks and what ends them": lambda m: m.delattr(SessionState, "_call_callbacks"),
    "SafeSessionState, which may end a run at each look into it": lambda m: m.setattr(
        SafeSessionState, "__getitem__", lambda _self, _key: None
    ),
    "logger.setup_formatter, which sets all loggers up": lambda m: m.setattr(
        streamlit_logger, "get_logger", lambda name: name
    ),
    "MemoryUploadedFileManager.remove_file": lambda m: m.delattr(MemoryUploadedFileManager, "remove_file"),
    "rerun_script and script_finished in its protocol": lambda m: m.setattr(BackMsg_pb2, "BackMsg", Empty_pb2.Empty),
}


def frontend_without(monkeypatch, folder):
    """A frontend whose class names are others."""
    (folder / "index.js").write_text('const main = "mainBlock"', "utf-8")
    (folder / "index.css").write_text(".formula { display: block }", "utf-8")
    monkeypatch.setattr(streamlit_adapter, "FRONTEND", folder)


@pytest.mark.parametrize("what", NAMED)
def test_what_is_gone_is_named_with_who_uses_it_and_what_for(what, monkeypatch, tmp_path):
    TAKEN_AWAY.get(what, lambda m: frontend_without(m, tmp_path))(monkeypatch)
    said = [str(message) for message in missing_dependencies([NAMED[what]])]
    assert said == [
        f"streamlit {st.__version__} no longer has {what}: used by {NAMED[what].user} for {NAMED[what].purpose}"
    ]


def test_the_server_s_log_says_what_is_gone(monkeypatch, tmp_path, caplog):
    frontend_without(monkeypatch, tmp_path)
    with caplog.at_level(logging.ERROR, "attnviz"):
        compatibility_checks.log_missing_parts.__wrapped__()
        until(lambda: "the space around a page" in caplog.text)
    assert "no longer has the class .stMainBlockContainer in its frontend: used by attnviz/app/app.css" in caplog.text


def stopping():
    import streamlit as st

    from attnviz.app.panel import show_problems

    st.text("before")
    with show_problems():
        st.stop()
    st.text("after")


def complaining():
    from streamlit import errors

    from attnviz.app.panel import show_problems

    class Complaint(errors.Error, ValueError):
        pass

    with show_problems():
        raise Complaint("not a panel's")


def failing():
    from attnviz.app.panel import show_problems

    with show_problems():
        raise ValueError("a panel's")


def test_a_guard_lets_streamlit_s_own_pass_and_keeps_a_panel_s_defect():
    stopped = AppTest.from_function(stopping).run()
    assert [text.value for text in stopped.text] == ["before"]
    assert not stopped.error
    assert AppTest.from_function(complaining).run().exception
    failed = AppTest.from_function(failing).run()
    assert not failed.exception
    assert "a panel's" in failed.error[0].value
