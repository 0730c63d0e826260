"""The theme that is kept is the one that Streamlit would have told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from streamlit import config
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session

from attnviz.app.mends import theme_message

SECTIONS = ["theme", *(f"theme.{each.value}" for each in config.CustomThemeCategories)]


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Streamlit's own function, which the app's server may have replaced already; put back afterwards."""
    populate: Any = getattr(app_session, theme_message.NAME)
    inside = dict(zip(populate.__code__.co_freevars, populate.__closure__ or (), strict=True))
    found: Callable[..., None] = inside["populate"].cell_contents if "populate" in inside else populate
    monkeypatch.setattr(app_session, theme_message.NAME, found)
    return found


def told(populate: Callable[..., None]) -> bytes:
    """The whole theme, as a message to a browser holds it."""
    msg = CustomThemeConfig()
    for section in SECTIONS:
        at: Any = msg
        for part in section.split(".")[1:]:
            at = getattr(at, part)
        populate(at, section)
    return msg.SerializeToString(deterministic=True)


def options_of_two_sections(monkeypatch: pytest.MonkeyPatch) -> None:
    options: dict[str, dict[str, Any]] = {
        "theme": {"base": "light", "primaryColor": "#123456", "fontFaces": None},
        "theme.dark": {"primaryColor": "#654321", "codeFontSize": "0.9rem", "chartCategoricalColors": ["#111111"]},
        "theme.light": {"base": "light"},  # held by a message that is told nothing
    }
    monkeypatch.setattr(config, "get_options_for_section", lambda section: options.get(section, {"base": None}))


def test_it_is_the_same_message_each_time(own: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    options_of_two_sections(monkeypatch)
    before = told(own)
    theme_message.keep_theme_message()
    theme_message.keep_theme_message()
    kept: Callable[..., None] = getattr(app_session, theme_message.NAME)
    assert kept is not own
    assert b"#123456" in before
    assert [told(kept), told(kept)] == [before, before]


def test_it_is_worked_out_once(own: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    options_of_two_sections(monkeypatch)
    asked = []
    monkeypatch.setattr(app_session, theme_message.NAME, lambda msg, section="theme": asked.append(section))
    theme_message.keep_theme_message()
    for _again in range(3):
        told(getattr(app_session, theme_message.NAME))
    assert asked == SECTIONS


def test_the_app_keeps_it() -> None:
    from attnviz.serve import server

    assert server.ROUTES
    assert getattr(app_session, theme_message.NAME).__module__ == theme_message.__name__
    assert theme_message.has_what_it_needs()
