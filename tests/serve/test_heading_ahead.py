"""A page's title and sentences, sent before its scripts."""

from __future__ import annotations

import re
import tomllib
from html.parser import HTMLParser
from pathlib import Path

import pytest

from attnviz.app.page_entry import Page
from attnviz.base.words import _, speaking
from attnviz.serve import heading_ahead as ahead
from attnviz.serve import page_table

ROOT = Path(__file__).parents[2]


class Words(HTMLParser):
    """The words of a piece of HTML, by the element that they stand in."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.inside: list[str] = []
        self.found: dict[str, str] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.inside.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in self.inside:
            self.found[tag] = self.found.get(tag, "") + data


@pytest.mark.parametrize("page", page_table.PAGES, ids=lambda page: page.name)
@pytest.mark.parametrize("language", ["", "zh"])
def test_the_words_are_the_page_s_own_in_the_language_of_the_link(page: Page, language: str) -> None:
    _rules, words = ahead.heading_ahead(page.name, {"lang": [language]} if language else {})
    with speaking(language or None):
        title, about = _(page.heading), page.about and _(page.about)
    found = Words(words).found
    assert found["b"] == title
    assert found.get("span") == (None if about is None or page.name == "lessons" else about.replace("*", ""))
    assert 'aria-hidden="true"' in words


def test_start_is_the_page_without_a_name() -> None:
    assert ahead.heading_ahead("", {}) == ahead.heading_ahead("home", {})


@pytest.mark.parametrize(
    "page, query", [("masks", {"embed": ["true"]}), ("masks", {"present": ["1"]}), ("elsewhere", {})]
)
def test_nothing_is_sent_where_no_such_heading_will_stand(page: str, query: dict[str, list[str]]) -> None:
    assert ahead.heading_ahead(page, query) == ("", "")


def test_a_language_that_nobody_translated_is_english() -> None:
    assert ahead.heading_ahead("masks", {"lang": ["<script>"]}) == ahead.heading_ahead("masks", {})


def test_the_colours_are_those_of_the_themes() -> None:
    theme = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["theme"]
    names = {"backgroundColor": ahead.PAPER, "secondaryBackgroundColor": ahead.MENU, "textColor": ahead.INK}
    for name, pair in names.items():
        assert pair == (theme["light"][name], theme["dark"][name])
    assert set(re.findall(r"#[0-9A-Fa-f]{6}", ahead.STYLE)) == {colour for pair in names.values() for colour in pair}
