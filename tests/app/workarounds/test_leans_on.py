"""The installed Streamlit still has what we lean on; were it gone, the server's log would name it."""

import logging

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.app.workarounds import compatibility_checks, streamlit_adapter
from attnviz.app.workarounds.compatibility_checks import DEPENDENCIES
from attnviz.base.undocumented_dependency import missing_dependencies
from tests.waiting import until

NAMED = {dependency.what: dependency for dependency in DEPENDENCIES}


@pytest.mark.parametrize("dependency", NAMED.values(), ids=NAMED)
def test_the_installed_version_still_has(dependency):
    assert [str(message) for message in missing_dependencies([dependency])] == []


def frontend_without(monkeypatch, folder):
    """A frontend whose class names are others."""
    (folder / "index.js").write_text('const main = "mainBlock"', "utf-8")
    (folder / "index.css").write_text(".formula { display: block }", "utf-8")
    monkeypatch.setattr(streamlit_adapter, "FRONTEND", folder)


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
