"""The positions page in a real Chromium: a circle that turns without Python, and nothing wider than a phone."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from attnviz.pages.positions.maths import rotation
from tests.browser.conftest import answered, opens, until
from tests.browser.saving import saved

Open = Callable[..., Any]


open_positions = opens("positions", "text=The same in PyTorch")


def facts(page: Any) -> list[str]:
    """How far q and k have turned, what the pair adds, and q.k over all pairs."""
    return list(page.locator(".rc-fact b").all_inner_texts())


def move(page: Any, what: str, value: int, let_go: bool) -> None:
    """Drag a slider of the circle; `let_go` releases it there."""
    page.locator(f'.rc-range[data-what="{what}"]').evaluate(
        """(input, [value, letGo]) => {
            input.value = value;
            input.dispatchEvent(new Event("input", {bubbles: true}));
            if (letGo) input.dispatchEvent(new Event("change", {bubbles: true}));
        }""",
        [value, let_go],
    )


def product(result: rotation.Pair) -> list[str]:
    return [f"{value:.4f}".replace("-", "−") for value in (result.product, result.score)]


def test_the_circle_turns_without_python_and_shows_its_numbers(new_page: Open, server_url: str) -> None:
    page = new_page()
    sent: list[str] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda _frame: sent.append("frame")))
    page.goto(f"{server_url}/positions?p_section=circle")
    page.get_by_text("The same in PyTorch").wait_for(timeout=60_000)
    page.locator(".rc-fact b").first.wait_for()
    assert facts(page)[2:] == product(rotation.turn(rotation.PairConfig(pair=4)))
    answered(page)
    before = len(sent)
    for k_at in (5, 300, 511):
        move(page, "k_at", k_at, let_go=False)
        assert facts(page)[2:] == product(rotation.turn(rotation.PairConfig(pair=4, k_at=k_at)))
    move(page, "pair", 9, let_go=False)
    there = rotation.turn(rotation.PairConfig(pair=9, k_at=511))
    assert facts(page)[2:] == product(there)
    assert len(sent) == before
    move(page, "pair", 9, let_go=True)
    said = f"{there.product:.4g}".replace("-", "−")
    page.get_by_text(f"this pair’s part of q·k is {said};").wait_for()
    assert len(sent) == before + 1, "only letting go was sent"


@pytest.mark.every_commit
def test_letting_go_is_in_the_link_and_comes_back(open_positions: Open) -> None:
    page = open_positions("?p_section=circle")
    page.locator(".rc-circle").wait_for()
    move(page, "q_at", 40, let_go=True)
    page.wait_for_url("**p_q=40*")
    move(page, "pair", 2, let_go=True)
    page.wait_for_url("**p_pair=2*")
    page.reload()
    page.locator(".rc-value").first.filter(has_text="2").wait_for()
    assert page.locator(".rc-value").all_inner_texts() == ["2", "40", "4"]


def test_moved_together_the_product_stays(open_positions: Open) -> None:
    page = open_positions("?p_section=circle")
    page.locator(".rc-fact b").first.wait_for()
    was = facts(page)
    page.get_by_label("move both together").check()
    move(page, "q_at", 300, let_go=False)
    assert page.locator(".rc-value").all_inner_texts() == ["4", "300", "292"]
    assert facts(page)[2:] == was[2:]
    assert facts(page)[0] != was[0]


def test_walking_keeps_the_distance_and_tells_python_at_the_end(open_positions: Open) -> None:
    page = open_positions("?p_section=circle&p_q=508&p_k=500")
    page.locator(".rc-fact b").first.wait_for()
    was = facts(page)
    page.locator(".rc-walk").click()
    page.wait_for_url("**p_q=511*")
    page.wait_for_url("**p_k=503*")
    assert facts(page)[2:] == was[2:]


def test_the_slider_is_moved_by_the_keyboard(open_positions: Open) -> None:
    page = open_positions("?p_section=circle")
    page.locator('.rc-range[data-what="k_at"]').focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**p_k=5*")
    until(lambda: page.locator(".rc-value").all_inner_texts() == ["4", "12", "5"])


def test_the_circle_is_saved_as_a_picture_and_as_numbers(open_positions: Open) -> None:
    page = open_positions("?p_section=circle")
    page.get_by_role("button", name=re.compile("Export")).first.click()
    text = saved(page, page.get_by_role("button", name="CSV, the numbers")).path().read_text("utf-8")
    assert text.splitlines()[0] == "pair,radians_per_position"
    assert len(text.splitlines()) == 33
    assert saved(page, page.get_by_role("button", name="SVG")).path().read_text("utf-8").count("<svg") >= 1
