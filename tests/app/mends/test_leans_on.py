"""The installed Streamlit still has what we lean on; and were any of it gone, its check would name it."""

import logging
from operator import attrgetter

import pytest
import streamlit as st
from streamlit import config, errors
from streamlit import logger as streamlit_logger
from streamlit.proto import BidiComponent_pb2, Block_pb2, Empty_pb2, PlotlyChart_pb2, TextInput_pb2
from streamlit.runtime.scriptrunner_utils import script_run_context
from streamlit.runtime.state.safe_session_state import SafeSessionState
from streamlit.runtime.state.session_state import SessionState
from streamlit.runtime.uploaded_file_manager import UploadedFile
from streamlit.testing.v1 import AppTest

from attnviz.app.mends import reliances
from attnviz.app.mends.reliances import RELIANCES, STYLED, WORDS, in_frontend
from attnviz.base.reliance import Reliance, gone


def field(module, message, name):
    """A check that a message of Streamlit's protocol has a field."""
    return lambda: name in attrgetter(message)(module).DESCRIPTOR.fields_by_name


#: what only tests, scripts and benchmarks lean on
OF_TESTS = (
    Reliance(
        "streamlit",
        "the attribute data-test-script-state in its frontend",
        "tests/browser, benchmarks/driving.py, benchmarks/first_paint.py",
        "waiting until a page is drawn",
        in_frontend("data-test-script-state"),
    ),
    *(
        Reliance(
            "streamlit",
            f"data-testid={name}",
            "tests/browser",
            "finding the page",
            in_frontend(f'"data-testid":`{name}`'),
        )
        for name in ("stApp", "stMain")
    ),
    Reliance(
        "streamlit",
        "PlotlyChart.spec",
        "tests/links",
        "reading a chart's numbers",
        field(PlotlyChart_pb2, "PlotlyChart", "spec"),
    ),
    Reliance(
        "streamlit",
        "BidiComponent.bytes",
        "tests/links, tests/pages",
        "reading what a canvas was sent",
        field(BidiComponent_pb2, "BidiComponent", "bytes"),
    ),
    Reliance(
        "streamlit",
        "BidiComponent.component_name",
        "benchmarks/driving.py",
        "knowing which canvas a message is for",
        field(BidiComponent_pb2, "BidiComponent", "component_name"),
    ),
    Reliance(
        "streamlit",
        "TextInput.query_param_key",
        "tests/links, scripts/keep_links.py",
        "knowing what the link calls a control",
        field(TextInput_pb2, "TextInput", "query_param_key"),
    ),
    Reliance(
        "streamlit",
        "Block.Expandable.expanded",
        "tests/links",
        "knowing which boxes are open",
        field(Block_pb2, "Block.Expandable", "expanded"),
    ),
)
NAMED = {reliance.what: reliance for reliance in (*RELIANCES, *OF_TESTS)}


@pytest.mark.parametrize("reliance", NAMED.values(), ids=NAMED)
def test_the_installed_version_still_has(reliance):
    assert [str(message) for message in gone([reliance])] == []


class OtherError(Exception):
    """An error class that stands below nothing of Streamlit's."""


class OtherApp:
    """An App that takes a script and nothing else."""

    def __init__(self, script_path):
        self.script_path = script_path


class OtherContext:
    """A run's context that knows neither its page nor who asked for it."""


def without_id(self, record, file_urls):
    self.name, self.size = record.name, 0


TAKEN_AWAY = {
    "errors.Error above all its errors": lambda m, folder: m.setattr(errors, "StreamlitAPIException", OtherError),
    "UploadedFile.file_id": lambda m, folder: m.setattr(UploadedFile, "__init__", without_id),
    "ScriptRunContext.is_history_navigation": lambda m, folder: m.setattr(
        script_run_context, "ScriptRunContext", OtherContext
    ),
    "ScriptRunContext.page_script_hash": lambda m, folder: m.setattr(
        script_run_context, "ScriptRunContext", OtherContext
    ),
    "SessionState._new_widget_state and SessionState._widget_changed(id)": lambda m, folder: m.delattr(
        SessionState, "_widget_changed"
    ),
    "config.is_manually_set and config.set_option(key, value, where)": lambda m, folder: m.delattr(
        config, "is_manually_set"
    ),
    "SessionState._call_callbacks and ScriptRunner._maybe_handle_execution_control_request": lambda m, folder: (
        m.delattr(SessionState, "_call_callbacks")
    ),
    "SafeSessionState, which may end a run at each look into it": lambda m, folder: m.setattr(
        SafeSessionState, "__getitem__", lambda _self, _key: None
    ),
    "logger.get_logger and logger.update_formatter, which ask logger.setup_formatter": lambda m, folder: m.setattr(
        streamlit_logger, "get_logger", lambda name: name
    ),
    "App(lifespan=, middleware=, routes=)": lambda m, folder: m.setattr(st, "App", OtherApp),
    **{
        f"{what} in its frontend": lambda m, folder: frontend_without(m, folder)
        for what in (*(word[0] for word in WORDS), *(f"data-testid={styled[0]}" for styled in STYLED))
    },
}


def frontend_without(monkeypatch, folder):
    """A frontend whose class names are others."""
    (folder / "index.js").write_text('const main = "mainBlock"', "utf-8")
    (folder / "index.css").write_text(".formula { display: block }", "utf-8")
    monkeypatch.setattr(reliances, "FRONTEND", folder)


def test_each_check_of_the_app_is_tried():
    assert set(TAKEN_AWAY) == {reliance.what for reliance in RELIANCES}


@pytest.mark.parametrize("what", TAKEN_AWAY)
def test_what_is_gone_is_named_with_who_uses_it_and_what_for(what, monkeypatch, tmp_path):
    TAKEN_AWAY[what](monkeypatch, tmp_path)
    said = [str(message) for message in gone([NAMED[what]])]
    assert said == [
        f"streamlit {st.__version__} no longer has {what}: used by {NAMED[what].user} for {NAMED[what].purpose}"
    ]


@pytest.mark.parametrize("what", [reliance.what for reliance in OF_TESTS])
def test_what_only_tests_lean_on_is_named_too(what, monkeypatch, tmp_path):
    frontend_without(monkeypatch, tmp_path)
    for module in (PlotlyChart_pb2, BidiComponent_pb2, TextInput_pb2, Block_pb2):
        monkeypatch.setattr(module, module.__name__.split(".")[-1].removesuffix("_pb2"), Empty_pb2.Empty)
    assert f"no longer has {what}: used by {NAMED[what].user}" in str(gone([NAMED[what]])[0])


def test_the_server_s_log_says_what_is_gone(monkeypatch, tmp_path, caplog):
    frontend_without(monkeypatch, tmp_path)
    with caplog.at_level(logging.ERROR, "attnviz"):
        reliances._log_what_is_gone()
    assert "no longer has the class .stMainBlockContainer in its frontend: used by attnviz/app/app.css" in caplog.text


def stopping():
    import streamlit as st

    from attnviz.app.guarding import guard

    st.text("before")
    with guard():
        st.stop()
    st.text("after")


def complaining():
    from streamlit import errors

    from attnviz.app.guarding import guard

    class Complaint(errors.Error, ValueError):
        pass

    with guard():
        raise Complaint("not a panel's")


def failing():
    from attnviz.app.guarding import guard

    with guard():
        raise ValueError("a panel's")


def test_a_guard_lets_streamlit_s_own_pass_and_keeps_a_panel_s_defect():
    stopped = AppTest.from_function(stopping).run()
    assert [text.value for text in stopped.text] == ["before"]
    assert not stopped.error
    assert AppTest.from_function(complaining).run().exception
    failed = AppTest.from_function(failing).run()
    assert not failed.exception
    assert "a panel's" in failed.error[0].value
