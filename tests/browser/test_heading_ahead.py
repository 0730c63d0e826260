"""What can be read of a page before its scripts are there stands where the page will put it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.conftest import answered

Open = Callable[..., Any]
#: Notes in every frame where the words stand that were sent ahead, and at last where the page's own stand.
WATCH = """
(() => {
  const box = (node) => {
    if (!node) return null;
    const range = document.createRange();
    range.selectNodeContents(node);
    const { x, y, width, height } = range.getBoundingClientRect();
    return [x, y, width, height];
  };
  const looks = (node) => node && ["color", "fontSize", "fontWeight"].map((name) => getComputedStyle(node)[name]);
  const at = (title, about) => {
    const [first, second] = [title, about].map((each) => document.querySelector(each));
    return first && { boxes: [box(first), box(second)], looks: looks(first), said: first.textContent };
  };
  const seen = (globalThis.seen = { ahead: null, frames: 0, both: 0 });
  seen.own = () => at(".stMain h1", ".st-key-page-about p");
  const look = () => {
    const ahead = at(".heading-ahead b", ".heading-ahead span");
    if (ahead) Object.assign(seen, { ahead, frames: seen.frames + 1 });
    if (ahead && document.querySelector(".st-key-page-about p")) seen.both += 1;
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})()
"""

NOTE_PAPER = """
const note = () => { globalThis.paper = getComputedStyle(document.documentElement).backgroundColor; };
addEventListener('DOMContentLoaded', () => requestAnimationFrame(note));
"""


@pytest.mark.parametrize(
    "path, size, scheme",
    [
        ("masks", (1280, 720), "dark"),
        ("compare", (1440, 900), "light"),
        ("sharing", (390, 844), "dark"),
        ("scaling?lang=zh", (1280, 720), "light"),
        ("", (390, 844), "light"),
        ("lessons?lesson=scaling&step=3", (1440, 900), "dark"),
    ],
)
def test_words_sent_ahead_stand_where_the_page_puts_them(
    server_url: str, new_page: Open, path: str, size: tuple[int, int], scheme: str
) -> None:
    page = new_page(width=size[0], height=size[1], dark=scheme == "dark")
    page.add_init_script(WATCH)
    page.goto(f"{server_url}/{path}")
    page.get_by_test_id("stMain").get_by_role("heading").first.wait_for(timeout=90_000)
    answered(page)
    assert page.locator(".heading-ahead").count() == 0
    ahead, own = page.evaluate("seen.ahead"), page.evaluate("seen.own()")
    assert page.evaluate("seen.frames") > 0
    assert page.evaluate("seen.both") == 0
    assert ahead["said"] == own["said"]
    assert ahead["looks"] == own["looks"]
    for before, after in zip(ahead["boxes"], own["boxes"], strict=True):
        assert (before is None) == (after is None)
        for one, other in zip(before or (), after or (), strict=True):
            assert one == pytest.approx(other, abs=1)


def test_the_theme_of_the_link_is_there_with_the_first_words(server_url: str, new_page: Open) -> None:
    page = new_page()
    page.add_init_script(NOTE_PAPER)
    page.goto(f"{server_url}/masks?theme=dark")
    page.wait_for_function("globalThis.paper")
    assert page.evaluate("paper") == "rgb(20, 22, 28)"


def test_a_presented_page_has_none(server_url: str, new_page: Open) -> None:
    page = new_page()
    page.add_init_script(WATCH)
    page.goto(f"{server_url}/masks?present=1")
    answered(page)
    assert page.evaluate("seen.frames") == 0
