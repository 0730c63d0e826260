"""In Chinese, a page has no English on it but what is quoted: the visitor's words, names, addresses."""

import html
import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict

from attnviz.app.links.choices import choices_of
from attnviz.base.packed import unblob
from attnviz.base.words import LOCALE_DIR
from attnviz.models.catalogue import CATALOGUE, EXAMPLES
from attnviz.pages.born import choices as born
from attnviz.pages.lessons.panels.all_lessons import LESSONS
from attnviz.pages.why.maths.examples import CONTRASTS
from attnviz.serve.navigation import LANG
from attnviz.serve.page_table import PAGES
from scripts import languages
from scripts.translation_faults import HALF_WIDTH
from tests.app_words import collected
from tests.pages.conftest import open_page

#: fields of Streamlit's elements that nobody reads: ids, options of the picture, code
UNREAD = {
    "id", "elementId", "key", "icon", "iconPosition", "pageScriptHash", "language", "formId", "scriptHash",
    "queryString", "pageName", "page", "urlPathname", "className", "mimetype", "url", "hash", "jsContent",
    "htmlContent", "componentName", "family", "template", "stack",
}  # fmt: skip
#: sentences that are quoted as they are: what a visitor or an example says, and names
QUOTED = (
    "The animal didn't cross the street because it was too tired",
    "animal didn't cross the street because it was too",  # its words in another order
    "The cat sat on the mat because it was tired",
    "the cat sat down",
    "The capital of France is Paris",
    "street the cross didn't animal The",  # backwards
    "The animal didn't",
    "cross the street because it",  # five of its words, to be counted by hand
    "was too tired",
    "animal; The animal",  # each beginning of it, and the next word
    "The capital of Italy is",
    "Attention is all you need",
    born.WORDS.default,
    *(example.text for example in EXAMPLES),
    *(text for contrast in CONTRASTS for text in (contrast.text, contrast.other)),
    *(example.text[:59] for example in EXAMPLES),  # on the button that offers it
    *(entry.name for entry in CATALOGUE),
    "first to second", "second to first", "first to first", "second to second", "one-head-less",  # as links say it
)  # fmt: skip
QUIET = re.compile(r"(?m)^> .*$|:[a-z]+(?:-background)?\[[^\]]*\]|`[^`]*`|\$[^$]*\$|\]\([^)]*\)|<[^>]*>|https?://\S+")
#: three English words in a row
ENGLISH = re.compile(r"[A-Za-z][a-z]+(?:[ ,;:.'’-]+[A-Za-z][a-z']+){2,}")
#: pages that need no trained model; the others are walked by hand and take longer
QUICK = [
    row.name
    for row in PAGES
    if row.name in ("home", "lessons", "build", "scaling", "masks", "fast", "compare", "glossary")
]


@pytest.fixture(autouse=True)
def everything_said_can_be_translated() -> None:
    """Instead of the conftest's: here sentences are looked up for real."""


def strings(node: Any) -> Iterator[str]:
    """Every text inside, but those that nobody reads."""
    if isinstance(node, dict):
        for name, held in node.items():
            if name not in UNREAD:
                yield from strings(held)
    elif isinstance(node, list):
        for each in node:
            yield from strings(each)
    elif isinstance(node, str):
        yield node


def shown(element: Any) -> Any:
    """What an element of the page shows, as JSON; a canvas's own header, and a chart's words."""
    if element.type == "bidi_component":
        data = bytes(element.proto.bytes)
        return unblob(data)[0] if data else json.loads(element.proto.json or "{}")
    held = MessageToDict(element.proto)
    if element.type == "plotly_chart":
        spec = json.loads(held["spec"])
        return [spec["layout"], [{name: each.get(name) for name in ("name", "hovertemplate")} for each in spec["data"]]]
    return held


@cache
def not_translated_yet() -> tuple[re.Pattern[str], ...]:
    """Sentences of the code that `python -m scripts.languages` names as not translated: they are English, and known."""
    catalog = languages.read(LOCALE_DIR / "zh.po")
    ids = [each.id for each in languages.untranslated(catalog, collected())]
    texts = [text for each in ids for text in ([each] if isinstance(each, str) else each)]
    return tuple(re.compile(".*".join(map(re.escape, re.split(r"\{[^{}]*\}", text))), re.S) for text in texts)


def everything_on(page: Any) -> Iterator[str]:
    """Each text of the page's elements, code left out."""

    def visit(block: Any) -> Iterator[str]:
        for child in getattr(block, "children", {}).values():
            if getattr(child, "proto", None) is not None and child.type not in ("code", "html"):
                yield from strings(shown(child))
            yield from visit(child)

    return visit(page._tree)


def english_on(page: Any) -> list[str]:
    """What stands on the page in English and is not quoted, or is joined by an English comma or full stop."""
    found = []
    for text in everything_on(page):
        rest = text
        for known in not_translated_yet():
            rest = known.sub("", rest)
        rest = QUIET.sub(" ", html.unescape(rest))
        for quoted in QUOTED:
            rest = rest.replace(quoted, "")
        if ENGLISH.search(rest) or HALF_WIDTH.search(rest):
            found.append(text[:200])
    return found


@pytest.mark.parametrize("name", QUICK)
def test_no_english_is_left_on_a_page_in_chinese(name: str):
    page = open_page(name, lang="zh")
    assert english_on(page) == []


STEPS = [(lesson.id, str(step)) for lesson in LESSONS.values() for step in range(1, len(lesson.steps) + 1)]


@pytest.mark.slow
@pytest.mark.parametrize("lesson, step", STEPS)
def test_no_english_is_left_in_any_step_of_a_lesson(lesson: str, step: str):
    page = open_page("lessons", lesson=lesson, step=step, l_notes="true", lang="zh")
    assert english_on(page) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", [row.name for row in PAGES])
def test_no_english_is_left_where_every_choice_of_a_link_is_refused(name: str):
    """What a link asks for in vain is said in Chinese: each choice at once has a value that makes no sense."""
    nonsense = {choice.name: "¿" for choice in choices_of(name) if choice.kind != "text" and not choice.inside}
    nonsense.pop(LANG.name, None)
    page = open_page(name, lang="zh", **nonsense)
    assert english_on(page) == []
    if name in ("build", "masks", "scaling", "sharing", "explore"):
        assert any("¿" in text for text in everything_on(page)), "something was refused"


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, link",
    [
        ("explore", {"model": "other", "hub_id": "owner/name"}),
        ("compare", {"c_section": "measured", "c_where": "here"}),
        ("pictures", {}),
        ("sharing", {}),
    ],
)
def test_no_english_is_left_on_a_hosted_server(name: str, link: dict[str, str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ATTNVIZ_HOSTED", "1")
    page = open_page(name, lang="zh", **link)
    assert english_on(page) == []


def test_the_search_finds_english_where_there_is_some():
    found = english_on(open_page("glossary", lang="en"))
    assert len(found) > 12
