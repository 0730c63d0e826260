"""A chapter from a cold start: opened, searched, zoomed to a cell, asked; beside it another visitor, and a phone."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ROOT, Server

PATIENCE = 240_000
TOKENS = 1300  # of the chapter, so that a pass is short; Dinah is among them


@pytest.fixture
def address(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    more = {"HF_HUB_OFFLINE": "1", "ATTNVIZ_TEXT_LIMIT": str(getattr(request, "param", TOKENS))}
    with Server(ROOT / "app.py", tmp_path / "log.txt", env=os.environ | more) as server:
        yield server.url


def test_a_chapter_is_opened_searched_zoomed_and_asked(address: str, browser: Any) -> None:
    page: Page = browser.new_page(viewport={"width": 1400, "height": 1000})
    page.set_default_timeout(PATIENCE)
    page.goto(f"{address}/explore")
    page.get_by_role("button", name="Long text").click()
    page.get_by_role("button", name="Alice in Wonderland, chapters I and II").click()
    page.locator("[data-head='13.8']").wait_for(state="attached")
    expect(page.get_by_text(f"Cut at {TOKENS} tokens")).to_be_visible()

    page.get_by_placeholder("Search the text").fill("dinah")
    expect(page.get_by_test_id("matches")).to_contain_text("1 of")
    match = page.locator(".lt-match").first
    expect(match).to_be_in_viewport()
    match.click()
    expect(page.locator(".lt-strong")).to_have_count(4)
    expect(page.locator(".lt-text span[style]").first).to_be_attached()

    box = page.get_by_test_id("pyramid").bounding_box()
    assert box is not None
    middle = box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.7
    page.mouse.move(*middle)
    for _ in range(10):
        page.mouse.wheel(0, -200)
    expect(page.locator("[data-step='1'][data-waiting='0']")).to_be_attached(timeout=PATIENCE)
    page.mouse.move(middle[0] + 9, middle[1])
    expect(page.get_by_test_id("cell")).to_contain_text("looks at")

    other: Page = browser.new_page()  # whose sentence takes the memory of sentences, not that of the text
    other.goto(f"{address}/explore?text=Two+birds+saw+it")
    expect(other.get_by_test_id("heatmap")).to_be_visible(timeout=PATIENCE)
    other.close()

    question = page.get_by_role("textbox", name="Ask the text")
    question.fill("The name of Alice’s cat is")
    question.press("Enter")
    page.locator(".lt-token").first.click()
    expect(page.locator(".lt-strongest")).to_contain_text("it looked most at")

    page.set_viewport_size({"width": 390, "height": 800})
    expect(page.get_by_test_id("long-text")).to_be_visible()
    expect(page.get_by_test_id("pyramid")).to_be_hidden()
    page.close()


@pytest.mark.parametrize("address", [5000], indirect=True)
def test_a_pass_says_how_long_it_takes_and_is_stopped(address: str, browser: Any) -> None:
    page: Page = browser.new_page()
    page.goto(f"{address}/explore?doc=alice")
    expect(page.get_by_text("MB of memory: about")).to_be_visible(timeout=PATIENCE)
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Reading was stopped.")).to_be_visible(timeout=60_000)
    page.get_by_role("button", name="Read it").click()
    expect(page.get_by_text("MB of memory")).to_be_visible(timeout=60_000)
    page.close()
