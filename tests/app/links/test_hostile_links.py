"""A link is from anyone: whatever it says of any declared choice is read, or refused in a way that is answered."""

import base64
import json
import zlib
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
import streamlit as st

from attnviz.app.links import link_reading, link_state
from attnviz.app.links.choices import EVERY_PAGE, Choice, page_choices, page_parameters
from attnviz.app.text import translate_markdown
from attnviz.app.workarounds.streamlit_adapter import SESSION
from attnviz.base.message import NONSENSE, Problem
from attnviz.base.words import use_language
from attnviz.serve import page_table  # noqa: F401
from attnviz.serve.page_table import NAMES as PAGES

CHOICES = [choice for page in PAGES for choice in page_choices(page)]

TEXTS = [
    "", " ", "0", "-0", "-1", "inf", "-inf", "nan", "NaN", "1e999", "-1e999", "1e-999", "0x10", "1_000", "٣", "²", "½",
    "+1", " 1 ", "1" * 17, "1" * 18, "1" * 19, "9" * 4299, "9" * 4301, "1e" + "9" * 5000, "." * 300, "None", "null",
    "true", "TRUE", "false ", "yes", "1,2", ",,,", "1.1,1.1", "9999.9999", "1.2.3", "..", "{}", "[]", "{{", "%s%n",
    "{x}", "{name.__class__}", "__class__", "<b>x</b>", "**y**", "$z$", "中文", "🙂", "\x00", "\n\n", "‮", "\ud800",
    "é" * 201,
    "a" * 100_001, "[" * 5000, "1" + "A" * 200, "1" + "A" * 7000, "2abc", "1!!!!", "1" + "=" * 50,
]  # fmt: skip
DEEP: Any = None
for _turn in range(900):
    DEEP = [DEEP]
VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 10**4, 10**18, 10**400, 1.5, -0.0, 1e308, float("inf"), float("nan"), "", "x", "1",
    "9" * 5000, "中文", "\ud800", ["\ud800"], [], [[]], {}, DEEP, [None], [None] * 3, [True, True], [1, 2], [1, 2, 3],
    [1.0, 2.0],
    ["q", 1], [["q", 1]], ["W_Q", 0, 0, 1], [["W_Q", 0, 0, 1]], [["W_Q", 0, 0, float("nan")]],
    [["W_Q", 0, 0, "1e999"]], [["W_Q", 10**9, 0, 1.0]], [["W_Q", [], {}, None]], [[[]]] * 900, list(range(20_000)),
    {"t": 1}, {"t": [1]}, {"t": [[1]]}, {"t": [["q"]]}, {"t": [["q", 10**9]]}, {"t": [[[], 1]]}, {"c": 1}, {"c": [1]},
    {"c": [True, False]}, {"t": None}, {"n": 1}, {"n": "9" * 5000}, {"n": float("inf")}, {"n": -1}, {"n": 10**400},
    {"n": 4, "on": "", "off": "!!"}, {"n": 4, "on": "AA", "off": "AA"}, {"n": 4, "on": [], "off": {}},
    {"n": 4, "on": "A" * 100_000, "off": ""}, {"n": True, "on": "", "off": ""},
]  # fmt: skip


def packed(value: Any) -> str:
    """As anybody may pack it: without the limits that our own packing keeps to."""
    raw = json.dumps(value).encode()
    return link_reading.VERSION + base64.urlsafe_b64encode(zlib.compress(raw, 9)).decode().rstrip("=")


@pytest.fixture
def visitor(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A session of nobody's, without a server."""
    state: dict[str, Any] = {}
    monkeypatch.setattr(st, "session_state", state)
    return state


def hostile(page: str) -> Iterator[dict[str, str]]:
    """Links in which every parameter of the page says the same hostile thing."""
    names = page_parameters(page)
    for text in TEXTS:
        if text == "\ud800":
            continue  # no address holds it; packed JSON and files may
        yield dict.fromkeys(names, text)
    shorts = [choice.short for choice in page_choices(page) if choice.inside and choice.short]
    for value in VALUES:
        for whole in (value, dict.fromkeys(shorts, value)):
            if packed_fits(whole):
                yield dict.fromkeys(names, packed(whole))


def packed_fits(value: Any) -> bool:
    try:
        return len(packed(value)) <= link_reading.LONGEST
    except RecursionError:
        return False


def _step_said(held: dict[str, Any]) -> dict[str, Any]:
    """With Build's step named: a link that holds anything of Build and no step means the scores."""
    return held | ({"b_step": held.get("b_step") or "scores"} if any(name.startswith("b_") for name in held) else {})


@pytest.mark.parametrize("page", PAGES)
def test_no_link_breaks_a_page_and_what_it_asks_in_vain_is_said(page: str, visitor: dict[str, Any]) -> None:
    for said in hostile(page):
        visitor.clear()
        visitor[SESSION] = {"_page_on_show": page}
        link_state._read(page, said)
        mine = page_choices(page)
        for choice in mine:
            link_state.value(choice)
            refused = link_state.refusal(choice)
            assert refused is None or translate_markdown(refused)
        for message in link_state.unreported_refusals():
            assert translate_markdown(message)
        view = link_state.save()
        again = link_state.link_parameters(page)
        urlencode(again)
        kept = {choice.name: link_state.value(choice) for choice in mine}
        visitor[SESSION].pop("_page_on_show")
        link_state.open_view(view)
        opened = {choice.name: link_state.value(choice) for choice in mine}
        assert _step_said(opened) == _step_said(kept)
        assert _step_said(link_state.link_parameters(page)) == _step_said(again)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("choice", dict.fromkeys(CHOICES), ids=lambda choice: choice.name)
def test_what_is_not_used_is_said_in_the_words_of_the_control(
    choice: Choice[Any], lang: str, visitor: dict[str, Any]
) -> None:
    """And never by the name that the parameter has in the link."""
    asked = refused_by(choice)
    if asked is None:
        return  # a text or a name that only the page knows: whatever it says may be read
    page = PAGES[0] if choice.page == EVERY_PAGE else choice.page
    visitor[SESSION] = {"_page_on_show": page}
    held = {choice.short: asked} if choice.short else asked
    link_state._read(page, {choice.inside or choice.name: held})
    with use_language(lang):
        (said,) = map(translate_markdown, link_state.unreported_refusals())
        assert translate_markdown(choice.label) in said
    assert "_" not in choice.name or choice.name not in said
    link_state.mark_refusal_shown(choice)
    assert not link_state.unreported_refusals(), "its control says it"


def refused_by(choice: Choice[Any]) -> Any:
    """A value that the choice does not take; None where it takes everything that is short enough."""
    for asked in [*VALUES, *TEXTS] if choice.inside else TEXTS:
        try:
            choice.read(asked)
        except (*NONSENSE, Problem):
            return asked
    return None
