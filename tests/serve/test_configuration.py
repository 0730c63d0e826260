"""The settings that come with the app: one file in the package, read wherever the app is started from."""

from pathlib import Path

import streamlit as st

from attnviz.serve import configuration

ROOT = Path(__file__).parents[2]


def test_a_clone_and_a_wheel_start_with_the_same_settings() -> None:
    clones = (ROOT / ".streamlit" / "config.toml").read_text("utf-8")
    assert clones == configuration.SETTINGS.read_text("utf-8"), "copy the package's over the clone's"
    mine, theirs = (file.read_text("utf-8").split('"""', 2)[2] for file in (ROOT / "app.py", configuration.ENTRY))
    assert mine == theirs, "the same app"


def test_every_setting_is_one_that_streamlit_knows() -> None:
    found = dict(configuration.settings())
    assert found["theme.light.primaryColor"] == "#7A2382"
    assert found["server.address"] == "127.0.0.1"
    assert found["client.showErrorDetails"] == "none"
    assert "server.enableAgentApi" not in found
    assert st.get_option("server.enableAgentApi") is False, "its interface for programs"
    for name in found:
        st.get_option(name)
