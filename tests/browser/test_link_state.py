"""One link state, from a cold start in a real Chromium: what is chosen travels, comes back, and stands in the link."""

import base64
import json
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from playwright.sync_api import expect

from attnviz.app.links import link_reading
from attnviz.pages.build import choices as building_choices
from attnviz.pages.explore import choices as explorer_choices
from attnviz.pages.home import choices as home_choices
from attnviz.pages.masks import choices as mask_choices
from attnviz.serve import page_table  # noqa: F401
from tests.browser.canvas_places import shown, tile
from tests.browser.conftest import answered, at_rest, until
from tests.browser.saving import saved_in
from tests.browser.slow_line import Line

SENTENCE = "Two grey birds saw it"
FIRST = 120_000  # ms: the first visitor of a cold server waits for a model
#: page in the menu: its path, the label of its sentence, the parameter that holds it, its own example
SPEAKING = {
    "Start": ("/", "Type a sentence", "sentence", home_choices.EXAMPLE),
    "Explore": ("/explore", "Sentence", "text", explorer_choices.SENTENCE.default),
    "Build": ("/build", "Sentence", "b_text", building_choices.EXAMPLE),
    "Masks": ("/masks", "Your sentence", "m_text", mask_choices.EXAMPLE),
}
OTHERS = [name for name in SPEAKING if name != "Start"]
CARDS = ["Lessons", "Share heads", "Explore"]
TITLES = {
    "Start": "What is attention?",
    "Lessons": "Lessons",
    "Explore": "Explore attention",
    "Build": "Build attention by hand",
    "Masks": "Who may look at whom",
    "Scaling": "Why divide by √d_k?",
    "Share heads": "Share keys and values",
}


@pytest.fixture
def slow(server_url, new_page):
    """`slow("explore")`: the page, and its line to the server."""

    def opened(where):
        page = new_page()
        line = Line(page)
        page.goto(f"{server_url}/{where}")
        at_rest(page)
        return page, line

    return opened


def link(page: Any) -> dict[str, str]:
    return dict(parse_qsl(page.evaluate("location.search.slice(1)"), keep_blank_values=True))


def meaning(said: dict[str, str]) -> dict[str, Any]:
    """A link with what its packed part holds."""
    return {name: link_reading.unpack(text) if name == "c" else text for name, text in said.items()}


def in_link(page: Any, **wanted: str) -> None:
    """Until the link says all of it."""
    until(lambda: wanted.items() <= link(page).items())


def go(page: Any, name: str) -> None:
    """By the menu, as far as the page that it leads to is at rest."""
    page.get_by_test_id("stSidebar").get_by_role("link", name=name).click()
    at(page, name)


def at(page: Any, name: str) -> None:
    """Until this page of the menu is on show and at rest."""
    page.get_by_role("heading", level=1, name=TITLES[name]).wait_for(timeout=FIRST)
    answered(page)


def server_wrote(page: Any, line: Line, text: str) -> None:
    """Until the server has told the browser's address something with `text`, held back or not yet let go."""

    def said() -> bool:
        page.evaluate("0")  # the line is only served while the browser is spoken to
        return any(text.encode() in message for message in line.held or [] if isinstance(message, bytes))

    until(said, seconds=60)


def server_rests(page: Any, line: Line) -> None:
    """Until the server has said nothing for a while."""

    def rests() -> bool:
        before = line.said
        for _ in range(20):
            page.evaluate("0")
            page.wait_for_timeout(100)
        return line.said == before

    until(rests)


@pytest.mark.parametrize("computed", [False, True])
def test_a_gesture_that_leaves_before_the_link_is_known_takes_nothing_back(slow, computed):
    page, line = slow("")
    line.hold()
    box = page.get_by_label("Type a sentence", exact=True)
    box.fill(SENTENCE)
    box.press("Enter")
    server_wrote(page, line, "sentence=")
    if computed:  # the new sentence is on its way, and the hand is on the one before
        server_rests(page, line)
    before = line.said
    page.get_by_role("switch").click()  # every word may look at all
    until(lambda: page.evaluate("0") == 0 and line.said > before)  # it has begun to answer
    line.let_go()
    in_link(page, sentence=SENTENCE, causal="false")
    answered(page)
    expect(box).to_have_value(SENTENCE)
    assert link(page)["sentence"] == SENTENCE


def of_sentence(page: Any, name: str) -> Any:
    return page.get_by_label(SPEAKING[name][1], exact=True)


@pytest.mark.every_commit
def test_a_sentence_typed_on_start_travels_to_every_page_by_menu_and_by_card(opened):
    page = opened("", reduced_motion="reduce")
    of_sentence(page, "Start").fill(SENTENCE)
    of_sentence(page, "Start").press("Enter")
    in_link(page, sentence=SENTENCE)
    answered(page)
    by_card = [(way, door) for name in CARDS for way, door in ((name, "stMain"), ("Start", "stSidebar"))]
    for name, door in [(name, "stSidebar") for name in (*OTHERS, "Start")] + by_card:
        page.get_by_test_id(door).get_by_role("link", name=name).click()
        at(page, name)
        if name in SPEAKING:
            expect(of_sentence(page, name)).to_have_value(SENTENCE)
            in_link(page, **{SPEAKING[name][2]: SENTENCE})


def entries(page: Any) -> int:
    return int(page.evaluate("history.length"))


def of_width(page: Any) -> Any:
    return page.get_by_role("spinbutton", name="d_k", exact=True)


def test_scaling_keeps_its_numbers_and_back_takes_one_change_at_a_time(opened):
    page = opened("scaling?s_section=saturation")  # an older link, to what its first section shows now
    began = entries(page)
    of_width(page).fill("128")
    of_width(page).press("Enter")
    in_link(page, s_dk="128")
    answered(page)
    assert entries(page) == began + 1
    go(page, "Build")
    assert entries(page) == began + 2, "a page entered by the menu is one step"
    go(page, "Scaling")
    expect(of_width(page)).to_have_value("128")
    assert link(page) == {"s_dk": "128"}
    assert entries(page) == began + 3
    page.go_back()
    at(page, "Build")
    page.go_back()
    at(page, "Scaling")
    expect(of_width(page)).to_have_value("128")
    page.go_back()
    until(lambda: of_width(page).input_value() == "64")
    answered(page)
    assert link(page) == {}
    page.go_forward()
    until(lambda: of_width(page).input_value() == "128")
    answered(page)
    page.go_forward()
    at(page, "Build")
    assert entries(page) == began + 3, "going back and forward adds nothing"


MINILM, TOKENS = "minilm-l6", 11  # of both sentences together
EVERYTHING = {
    "text": "One two three one two three", "model": MINILM, "second": "Two birds", "at": "2.4", "mask": "painted",
    "open_what_if": "true", "open_stages": "true", "scale": "none",
    "c": link_reading.pack({"pins": {"t": [["q", 3, "three"], ["k", 1, "one"]], "c": [3, 1, "three", "one"]},
                         "hide": [3], "quiet": ["0.1"],
                         "stage": [3, 1], "mask": base64.b64encode(b"\xff" * -(-TOKENS * TOKENS // 8)).decode()}),
}  # fmt: skip


def share(page: Any) -> Any:
    """The menu to share a view, open."""
    page.get_by_test_id("stPopoverButton").filter(has_text="Share").last.click()
    page.get_by_role("button", name="Save this view as a file").wait_for()
    return page


def test_a_saved_view_holds_everything_and_opens_the_same_elsewhere(opened, tmp_path):
    page = opened("explore?" + urlencode(EVERYTHING))
    page.get_by_text("No token may look at: three (3).").wait_for(timeout=FIRST)
    answered(page)
    shown = link(page)
    share(page)
    shared = page.get_by_test_id("stCode").filter(has_text="http").first.inner_text().strip()
    assert meaning(dict(parse_qsl(urlsplit(shared).query))) == meaning(shown)
    assert urlsplit(shared).path == "/explore"
    file = saved_in(page, page.get_by_role("button", name="Save this view as a file"), tmp_path)
    held = json.loads(file.read_text("utf-8"))["choices"]
    assert {name: text for name, text in held.items() if name != "c"} == {n: t for n, t in shown.items() if n != "c"}
    assert held["c"] == link_reading.unpack(shown["c"])
    assert set(held["c"]) == {"pins", "hide", "quiet", "stage", "mask"}
    other = opened("masks")
    share(other).locator("input[type=file]").set_input_files(file)
    at(other, "Explore")
    other.get_by_text("No token may look at: three (3).").wait_for(timeout=FIRST)
    answered(other)
    assert meaning(link(other)) == meaning(shown)
    assert other.locator(".av-title").first.text_content() == page.locator(".av-title").first.text_content()
    page.keyboard.press("Escape")
    for each in (page, other):
        each.mouse.move(3, 3)
    pictures = [lambda each=each: each.get_by_test_id("heatmap").first.screenshot() for each in (page, other)]
    until(lambda: pictures[0]() == pictures[1]())


def settled(page: Any, **wanted: str) -> None:
    """Until the link says this and nothing else, and still does when everything is at rest."""
    until(lambda: link(page) == wanted, seconds=60)
    answered(page)
    assert link(page) == wanted


def test_what_if_opened_and_a_head_chosen_on_a_slow_line_both_stand_in_the_link(slow):
    page, line = slow("explore")
    spot = tile(page, 9 * 7 + 5)
    box = page.get_by_text("What if: another mask, another scale, a silenced head")
    line.hold()
    page.mouse.click(*spot)
    server_wrote(page, line, "at=7.5")
    box.click()
    server_wrote(page, line, "open_what_if=true")
    line.let_go()
    settled(page, at="7.5", open_what_if="true")
    page.get_by_text("what changes is shown here at once").wait_for()
    shown(page, "Layer 7, head 5")


def test_two_visitors_do_not_see_each_others_choices_and_a_reload_keeps_ones_own(opened):
    one, two = (opened("masks", reduced_motion="reduce") for _visitor in range(2))
    for page, text in ((one, SENTENCE), (two, "Nobody else")):
        of_sentence(page, "Masks").fill(text)
        of_sentence(page, "Masks").press("Enter")
        in_link(page, m_text=text)
        answered(page)
    go(one, "Build")
    go(two, "Build")
    expect(of_sentence(one, "Build")).to_have_value(SENTENCE)
    expect(of_sentence(two, "Build")).to_have_value("Nobody else")
    one.reload()
    at(one, "Build")
    expect(of_sentence(one, "Build")).to_have_value(SENTENCE)
