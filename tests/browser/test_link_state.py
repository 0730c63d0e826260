"""One link state, from a cold start in a real Chromium: what is chosen travels, comes back, and stands in the link."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from attnviz.ui.building import building_choices
from attnviz.ui.explorer import explorer_choices
from attnviz.ui.home import home_choices
from attnviz.ui.masks import mask_choices
from attnviz.ui.shared import link_pack
from tests.browser.conftest import answered, until

Open = Callable[..., Any]
SENTENCE = "Two grey birds saw it"
FIRST = 120_000  # ms: the first visitor of a cold server waits for a model
#: page: (its path, its name in the menu, the label of its sentence, the parameter, its own example)
SPEAKING = {
    "home": ("/", "Start", "Type a sentence", "sentence", home_choices.EXAMPLE),
    "explore": ("/explore", "Explore", "Sentence", "text", explorer_choices.SENTENCE.default),
    "build": ("/build", "Build", "Sentence", "b_text", building_choices.EXAMPLE),
    "masks": ("/masks", "Masks", "Your sentence", "m_text", mask_choices.EXAMPLE),
}
TITLES = {
    "Start": "See what a language model looks at",
    "Explore": "Explore attention",
    "Build": "Build attention by hand",
    "Masks": "Who may look at whom",
    "Scaling": "Why divide by √d_k?",
    "Share heads": "Share keys and values",
}


@pytest.fixture
def tab(server_url: str, new_page: Open) -> Open:
    """`tab("/explore?at=3.1")`: a visitor nobody has seen before, and the page at rest."""

    def opened(where: str = "/", **options: Any) -> Any:
        page = new_page(**options)
        page.goto(server_url + where)
        at_rest(page)
        return page

    return opened


class Line:
    """The line between a browser and the server; what the server says can be held back, as a slow line does."""

    def __init__(self, page: Any) -> None:
        self.held: list[Any] | None = None
        self.said = 0
        page.route_web_socket(re.compile("_stcore/stream"), self._join)

    def _join(self, browser: Any) -> None:
        server = browser.connect_to_server()
        self.browser = browser
        server.on_message(self._from_server)

    def _from_server(self, message: Any) -> None:
        self.said += 1
        if self.held is None:
            self.browser.send(message)
        else:
            self.held.append(message)

    def hold(self) -> None:
        self.held = []

    def let_go(self) -> None:
        held, self.held = self.held or [], None
        for message in held:
            self.browser.send(message)


@pytest.fixture
def slow(server_url: str, new_page: Open) -> Callable[..., tuple[Any, Line]]:
    """`slow("/explore")`: the page, and its line to the server."""

    def opened(where: str = "/") -> tuple[Any, Line]:
        page = new_page()
        line = Line(page)
        page.goto(server_url + where)
        at_rest(page)
        return page, line

    return opened


def at_rest(page: Any) -> None:
    page.locator("[data-testid=stApp]").wait_for(timeout=FIRST)
    page.get_by_role("heading", level=1).first.wait_for(timeout=FIRST)
    answered(page)


def link(page: Any) -> dict[str, str]:
    return dict(parse_qsl(page.evaluate("location.search.slice(1)"), keep_blank_values=True))


def held_by(page: Any) -> Any:
    """What the canvases put into the explorer's link."""
    return link_pack.unpack(link(page)["c"]) if "c" in link(page) else {}


def in_link(page: Any, **wanted: str) -> None:
    """Until the link says all of it."""
    until(lambda: wanted.items() <= link(page).items())


def go(page: Any, name: str) -> None:
    """By the menu, as far as the page that it leads to is at rest."""
    menu(page, name).click()
    at(page, name)


def at(page: Any, name: str) -> None:
    """Until this page of the menu is on show and at rest."""
    page.get_by_role("heading", level=1, name=TITLES[name]).wait_for(timeout=FIRST)
    answered(page)


def menu(page: Any, name: str) -> Any:
    return page.get_by_test_id("stSidebar").get_by_role("link", name=name)


# A slow line: a gesture leaves before the answer to the one before it has come


def server_wrote(page: Any, line: Line, text: str) -> None:
    """Until the server has told the browser's address something with `text`, held back or not yet let go."""

    def said() -> bool:
        page.evaluate("0")  # the line is only served while the browser is spoken to
        return any(text.encode() in message for message in line.held or [] if isinstance(message, bytes))

    until(said, seconds=60)


def server_answers(page: Any, line: Line) -> None:
    """Until the server has begun to answer the last gesture."""
    before = line.said

    def said() -> bool:
        page.evaluate("0")
        return line.said > before

    until(said)


def test_a_gesture_that_leaves_before_the_link_is_known_takes_nothing_back(slow: Any) -> None:
    page, line = slow("/")
    line.hold()
    box = page.get_by_label("Type a sentence", exact=True)
    box.fill(SENTENCE)
    box.press("Enter")
    server_wrote(page, line, "sentence=")
    stage = page.get_by_test_id("heatmap").first
    stage.click(position={"x": 200, "y": 200})
    server_answers(page, line)
    line.let_go()
    in_link(page, sentence=SENTENCE)
    answered(page)
    assert box.input_value() == SENTENCE
    assert link(page)["sentence"] == SENTENCE


def test_a_sentence_typed_as_the_visitor_leaves_by_the_menu_goes_along(slow: Any) -> None:
    page, line = slow("/masks?m_text=Something%20else")
    line.hold()
    box = page.get_by_label("Your sentence", exact=True)
    box.fill(SENTENCE)
    box.press("Enter")
    server_wrote(page, line, "m_text=")
    menu(page, "Build").click()
    server_answers(page, line)
    line.let_go()
    page.get_by_role("heading", level=1, name=TITLES["Build"]).wait_for(timeout=FIRST)
    answered(page)
    until(lambda: link(page) == {"b_text": SENTENCE})
    assert urlsplit(page.url).path == "/build"
    assert page.get_by_label("Sentence", exact=True).input_value() == SENTENCE


def test_a_switch_pressed_twice_on_a_slow_line_is_off_in_the_link_too(slow: Any) -> None:
    page, line = slow("/")
    switch = page.get_by_role("switch", name="Causal mask").or_(page.get_by_role("checkbox", name="Causal mask"))
    line.hold()
    page.get_by_text("Causal mask", exact=True).click()
    server_wrote(page, line, "causal=false")
    page.get_by_text("Causal mask", exact=True).click()
    server_answers(page, line)
    line.let_go()
    answered(page)
    until(lambda: link(page) == {})
    assert switch.first.is_checked()
