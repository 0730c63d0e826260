"""The language follows the browser, is chosen on every page, stays in the link, and never changes what a link means."""

from typing import Any

import pytest

from attnviz.app.workarounds.streamlit_adapter import SESSION
from attnviz.base import words
from attnviz.serve.page_table import NAMES as PAGES
from tests.pages.conftest import link_of, open_page


@pytest.fixture
def browser(monkeypatch: pytest.MonkeyPatch) -> Any:
    """`browser("zh-CN")`: a browser that asks for this language."""
    from streamlit.runtime.context import ContextProxy

    def asks(for_language: str | None) -> None:
        monkeypatch.setattr(ContextProxy, "locale", property(lambda _self: for_language))

    return asks


def title(page: Any) -> str:
    return str(page.title[0].value)


def in_chinese(sentence: str) -> str:
    with words.use_language("zh"):
        return words._(sentence)


def switch(page: Any) -> Any:
    return next(each for each in page.sidebar.get("button_group") if each.key == "lang")


IN_CHINESE = in_chinese("Glossary")


@pytest.mark.parametrize(
    "asked, link, read",
    [
        *[(asked, {}, IN_CHINESE) for asked in ("zh-CN", "zh", "zh-Hans-CN", "zh-HK")],
        *[(asked, {}, "Glossary") for asked in (None, "de-DE", "../zh")],
        ("en-GB", {"lang": "zh"}, IN_CHINESE),
        ("zh-CN", {"lang": "en"}, "Glossary"),
    ],
)
def test_a_browser_reads_its_language_unless_the_link_names_one(browser: Any, asked: Any, link: Any, read: str):
    browser(asked)
    page = open_page("glossary", **link)
    assert title(page) == read
    assert link_of(page) == link, "the browser's own language needs no word"


def test_a_language_that_is_not_here_is_refused_in_a_sentence_and_the_browsers_is_used():
    page = open_page("glossary", lang="tlh")
    assert title(page) == "Glossary"
    assert any("tlh" in each.value for each in page.sidebar.caption)


def test_the_switch_stands_on_every_page_and_its_choice_goes_along(browser: Any):
    browser("en")
    page = open_page("glossary")
    assert [option.content for option in switch(page).proto.options] == ["English", "中文"]
    switch(page).set_value("zh").run()
    assert title(page) == IN_CHINESE
    links = page.session_state[SESSION]["page_links"]
    assert {name: held.get("lang") for name, held in links.items()} == dict.fromkeys(PAGES, "zh")
    page.switch_page("../pages/build/build.py").run()
    in_english = title(open_page("build"))
    assert title(page) == in_chinese(in_english)
    assert link_of(page)["lang"] == "zh"
    switch(page).set_value("en").run()
    assert title(page) == in_english
    assert "lang" not in link_of(page)


def test_two_visitors_of_one_server_each_read_their_own_language():
    """What is kept for all visitors holds no looked-up sentence: the same page in turn, by each twice."""
    first, second = open_page("scaling"), open_page("scaling", lang="zh")
    again, twice = open_page("scaling"), open_page("scaling", lang="zh")
    assert text_of(first) == text_of(again)
    assert text_of(second) == text_of(twice)
    assert text_of(first) != text_of(second)


def text_of(page: Any) -> list[str]:
    return [each.value for each in (*page.title, *page.subheader, *page.markdown, *page.caption)]
