"""Streamlit's own words are those of the installed version, and are said in the visitor's language."""

from __future__ import annotations

from functools import cache

import pytest

from attnviz.app.mends.streamlit_adapter import FRONTEND
from attnviz.base import words
from attnviz.canvas.presenter.streamlits_words import OWN, own_words


@cache
def frontend() -> str:
    """All of what Streamlit's browser runs."""
    return "".join(file.read_text("utf-8") for file in (FRONTEND / "static" / "js").glob("*.js"))


@pytest.mark.parametrize("said", OWN)
def test_the_installed_version_says_so(said: str):
    composed = {"Press Enter to apply": "`Press Enter to ${", " per file": "} per file`"}
    if said.endswith(" icon"):
        composed[said] = "} icon`"
    assert composed.get(said, f"`{said}") in frontend()


def test_in_english_nothing_is_said_otherwise_and_in_chinese_everything():
    assert own_words() == {}
    with words.speaking("zh"):
        said = own_words()
    assert set(said) == set(OWN)
    assert all(any("\u4e00" <= letter <= "\u9fff" for letter in text) for text in said.values())
