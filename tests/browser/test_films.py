"""Scaling, Positions, Decoding and Compare under a hand: what moves without Python, and work that can be stopped."""

import re
from operator import methodcaller

import pytest
from playwright.sync_api import expect

from attnviz.pages.scaling.maths import growing_width
from tests.browser.conftest import at_rest, until


@pytest.fixture
def heard(new_page, server_url):
    """`heard("scaling", ".ss-canvas")`: the page at rest, and what it says to the server from its first word."""

    def opened(view, *drawn):
        page, sent = new_page(), []
        page.on("websocket", lambda socket: socket.on("framesent", lambda _frame: sent.append("frame")))
        page.goto(f"{server_url}/{view}")
        at_rest(page, *drawn)
        assert sent, "the page spoke to Python when it opened"
        return page, sent

    return opened


def move(page, kind, what, value, let_go):
    """Drag a slider of a component; `let_go` releases it there."""
    page.locator(f'.{kind}-range[data-what="{what}"]').evaluate(
        """(input, [value, letGo]) => {
            input.value = value;
            input.dispatchEvent(new Event("input", {bubbles: true}));
            if (letGo) input.dispatchEvent(new Event("change", {bubbles: true}));
        }""",
        [value, let_go],
    )


def facts(page):
    """Largest weight, entropy and effective keys of each row of bars, one after the other."""
    said = " ".join(bars.get_attribute("aria-label") or "" for bars in page.locator(".ss-canvas").all())
    found = re.findall(r": largest weight (\S+), entropy, nats (\S+), effective keys (\S+)", said)
    return [number for row in found for number in row]


@pytest.mark.every_commit
def test_bars_show_pythons_numbers_move_without_it_and_letting_go_is_in_the_link(heard):
    page, sent = heard("scaling?s_section=alternatives", ".ss-canvas[aria-label*='%']")
    row = growing_width.run(growing_width.Config())
    assert facts(page)[0] == f"{row.raw.largest:.1%}"
    assert facts(page)[3] == f"{row.scaled.largest:.1%}"
    before, grid = len(sent), growing_width.film_grid(16)
    for d_k in (1, 2, 1024, 4096):
        move(page, "ss", "d_k", grid.index(d_k), let_go=False)
        there = growing_width.run(growing_width.Config(d_k))
        assert facts(page)[3] == f"{there.scaled.largest:.1%}"
    assert len(sent) == before
    assert page.get_by_text("At d_k = 64, temperature gives").is_visible(), "Python has not heard of it yet"
    move(page, "ss", "d_k", grid.index(1024), let_go=True)
    page.get_by_text("At d_k = 1024, temperature gives").wait_for()
    assert len(sent) == before + 1, "only the last move was sent"
    page.wait_for_url("**s_dk=1024*")
    move(page, "ss", "parameter", 1000, let_go=True)
    page.wait_for_url("**s_temperature=100*")
    page.reload()
    page.get_by_text("At d_k = 1024, temperature gives").wait_for()
    page.locator(".ss-value").nth(1).filter(has_text="100").wait_for()
    assert page.locator(".ss-value").all_inner_texts() == ["1024", "100"]
    move(page, "ss", "parameter", 0, let_go=True)
    until(lambda: facts(page)[6] == "100.0%")
    page.wait_for_url("**s_temperature=0*")
    page.locator(".ss-play").click()  # sweeps to the end, and then tells Python
    page.get_by_text("At d_k = 4096, temperature gives").wait_for()


FILM = "decoding?d_model=core&d_prompt=hello+cache&d_steps=6"


def step(page):
    held = page.locator(".av-root[data-step]").first
    return int(held.get_attribute("data-step")) if held.count() else -1


@pytest.mark.every_commit
def test_keys_and_tokens_choose_a_step_rows_are_read_out_and_the_counters_are_those_of_the_step(opened):
    page = opened(FILM + "&d_at=4", ".sp-canvas")
    until(lambda: step(page) == 4, 200)

    def work():
        said = page.locator(".sp-side canvas").get_attribute("aria-label")
        return re.search(r"tokens, this step: (\d+) with a cache, (\d+) without", said).groups()

    assert work() == ("1", "15")
    side = page.locator(".sp-side canvas")
    expect(side).to_have_attribute("aria-label", re.compile(r"Next token: .* \(chosen\).*Cache: .* in 4 layers"))
    side.scroll_into_view_if_needed()
    box = side.bounding_box()
    page.mouse.move(box["x"] + 5, box["y"] + box["height"] - 10)
    expect(side).to_have_attribute("title", re.compile("^layer 0: .*B$"))
    page.get_by_role("button", name="Next step").focus()
    page.keyboard.press("ArrowLeft")
    until(lambda: step(page) == 3)
    page.keyboard.press("End")
    until(lambda: step(page) == 5)
    tokens = page.locator(".sp-tokens button")
    assert all(min(box["width"], box["height"]) >= 24 for box in map(methodcaller("bounding_box"), tokens.all()))
    tokens.first.click()
    until(lambda: step(page) == 0)
    until(lambda: work() == ("11", "11"))
    page.locator(".sp-canvas").scroll_into_view_if_needed()
    box = page.locator(".sp-canvas").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 52)
    until(lambda: "of its attention" in page.locator(".sp-readout").inner_text())
