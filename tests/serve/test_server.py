"""The settings that come with the app, what the server imports before anybody can come, and its mark of memory."""

import asyncio
import os
import sys
from pathlib import Path

import pytest
import streamlit as st

from attnviz.serve import configuration, page_table, process_limits, server
from tests.own_thread import in_own_thread

ROOT = Path(__file__).parents[2]


def test_a_clone_and_a_wheel_start_with_the_same_settings() -> None:
    clones = (ROOT / ".streamlit" / "config.toml").read_text("utf-8")
    assert clones == configuration.SETTINGS.read_text("utf-8"), "copy the package's over the clone's"
    mine, theirs = (file.read_text("utf-8").split('"""', 2)[2] for file in (ROOT / "app.py", configuration.ENTRY))
    assert mine == theirs, "the same app"


def test_every_setting_is_one_that_streamlit_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    found, applied = dict(configuration.settings()), dict[str, object]()
    monkeypatch.setattr(configuration, "set_where_default", lambda name, value, _file: applied.update({name: value}))
    configuration.apply()
    assert applied == {name: value for name, value in found.items() if name != "server.address"}
    assert found["theme.light.primaryColor"] == "#7A2382"
    assert found["server.address"] == "127.0.0.1"
    assert found["client.showErrorDetails"] == "none"
    assert "server.enableAgentApi" not in found
    assert st.get_option("server.enableAgentApi") is False, "its interface for programs"
    for name in found:
        st.get_option(name)


@pytest.mark.parametrize("said, megabytes", [(None, 850), ("300", 300), ("0", 0), ("much", "much")])
def test_a_server_has_a_mark_of_memory_whoever_starts_it(said, megabytes, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ATTNVIZ_PROCESS_MB", said or "")
    monkeypatch.setattr(process_limits, "machine_memory", lambda: 10**9)
    monkeypatch.setattr(server, "_warm_up_or_log", lambda: None)

    async def started() -> str:
        async with server.lifespan(None):
            return os.environ["ATTNVIZ_PROCESS_MB"]

    assert in_own_thread(asyncio.run, started()) == str(megabytes)


def test_a_first_visitor_imports_no_page():
    assert {"pandas", "pyarrow", "transformers.modeling_utils", *(page.draw for page in page_table.PAGES)} <= set(
        server.PRELOADED
    )
    assert set(server.PRELOADED) < set(sys.modules)
