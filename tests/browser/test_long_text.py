"""A chapter from a cold start: opened, searched, zoomed to a cell, asked; beside it another visitor, and a phone."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ROOT, Server, answered, at_rest, until

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
    page.get_by_role("button", name="Texts").click()
    page.get_by_role("button", name="Alice in Wonderland, chapters I and II").click()
    expect(page.locator(".st-key-long-text-progress").get_by_role("button")).to_have_count(1)  # none of the sentence's
    page.locator("[data-head='13.8']").wait_for(state="attached")
    expect(page.get_by_text(f"Cut at {TOKENS:,} tokens")).to_be_visible()
    expect(page.get_by_text("32 rows are computed").or_(page.get_by_text("128 rows are computed"))).to_be_visible()
    expect(page.get_by_text("128 rows are computed")).to_be_visible(timeout=PATIENCE)

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

    page.get_by_test_id("mask-door").locator("summary").click()
    page.get_by_test_id("mask").select_option("none")
    expect(page.locator("[data-rule*=none]")).to_be_attached(timeout=PATIENCE)  # made here, of q and k
    until(lambda: "mask=none" in page.url)
    page.get_by_role("button", name="Show all").click()
    page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + box["height"] * 0.3)
    expect(page.get_by_test_id("cell")).to_contain_text("looks at" if TOKENS <= 512 else "Up to")  # no longer masked
    page.get_by_test_id("mask-door").locator("summary").click()  # the door lies on the button
    page.get_by_role("button", name="Back to the model").click()
    expect(page.locator("[data-rule='']")).to_be_attached()
    page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + box["height"] * 0.31)
    expect(page.get_by_test_id("cell")).to_contain_text("cannot look at it")

    other: Page = browser.new_page()  # whose sentence takes the memory of sentences, not that of the text
    other.goto(f"{address}/explore?text=Two+birds+saw+it")
    expect(other.get_by_test_id("heatmap")).to_be_visible(timeout=PATIENCE)
    other.close()

    question = page.get_by_role("textbox", name="Ask the text")
    question.fill("The name of Alice’s cat is")
    question.press("Enter")
    page.locator(".lt-token").first.click()
    expect(page.locator(".lt-strongest")).to_contain_text("it looked most at")

    page.set_viewport_size({"width": 768, "height": 1024})
    until(lambda: (box := page.get_by_test_id("long-text").bounding_box()) and box["x"] + box["width"] < 768)
    expect(page.get_by_test_id("pyramid")).to_be_visible()
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


@pytest.mark.parametrize("address", [300], indirect=True)
def test_a_visitors_own_text_is_pasted_opened_from_a_file_and_asked(address: str, browser: Any) -> None:
    page: Page = browser.new_page(viewport={"width": 1280, "height": 720})
    asked: list[str] = []

    def lose(route: Any) -> None:
        asked.append(route.request.url)
        route.abort()

    page.route(re.compile(r"/2\.\d+\.\d+\.\d+$"), lose)  # queries of a tile do not come
    page.goto(f"{address}/explore")
    at_rest(page, "[data-testid=heatmap]")
    menu, title = page.get_by_role("button", name="Texts"), page.get_by_text("Your text", exact=True)
    menu.click()
    page.get_by_role("textbox", name="or paste it here").fill("Tom owns a boathouse. Tom owns a")
    page.get_by_role("button", name="Read it").click()  # once
    expect(title).to_be_visible()
    expect(page.locator("input[type=file]")).to_be_hidden()  # the menu lies on nothing
    expect(page.get_by_text("All heads.")).to_be_visible()
    page.get_by_label("Point at", exact=True).select_option("word")
    page.locator(".lt-text span").first.click()
    expect(page.locator(".lt-strongest")).to_have_text("“Tom” looks only at itself.")
    last = "node => [...node.getContext('2d').getImageData(node.width * 0.6, node.height - 8, 1, 1).data]"
    small = page.get_by_test_id("wall").locator("canvas").first
    until(lambda: small.evaluate(last)[3] > 0)  # the last layer, of few tokens too
    before = len(asked)
    page.wait_for_timeout(1500)
    assert 0 < before <= len(asked) <= before + 2  # what is lost is asked for again, but not in every frame

    question = page.get_by_role("textbox", name="Ask the text")
    question.fill("Tom owns a")
    question.press("Enter")
    expect(page.locator(".lt-token").first).to_have_text("boathouse")  # one word of three tokens
    page.locator(".lt-token").first.click()
    expect(page.locator(".lt-strongest")).to_contain_text("To write “boathouse”, it looked most at")
    page.locator(".lt-text span").nth(2).click()
    page.get_by_role("button", name="Answer without this part").click()
    expect(page.get_by_text("Only the question and the answer")).to_be_visible()

    with page.workers[0].expect_event("close"):  # what made its tiles goes with it
        page.get_by_role("button", name="Back to a sentence").click()

    def opened(name: str, kind: str, data: bytes) -> None:
        """Open a file from the menu, scrolled to as who presses it has; the page may draw the menu anew meanwhile."""
        answered(page)
        seen = "all => { all[0]?.scrollIntoView({ block: 'nearest' }); return all.length; }"
        until(lambda: page.get_by_text("Open a file: text").evaluate_all(seen))
        page.locator("input[type=file]").set_input_files({"name": name, "mimeType": kind, "buffer": data})

    for data, answer in ((b"\xff\xfe", "not text in UTF-8"), (b" ", "The text is empty")):
        menu.click()
        opened("a.txt", "text/plain", data)
        expect(page.get_by_text(answer)).to_be_in_viewport()
        menu.click()
    menu.click()
    turns = [{"role": "user", "content": [{"type": "text", "text": "Where is Mia?"}]}]
    turns.append({"role": "assistant", "content": "word " * 24_000})
    opened("a.json", "application/json", json.dumps(turns).encode())
    expect(title).to_be_visible()
    expect(page.get_by_text("those after the first 100,000 are left out")).to_be_visible()
    expect(page.get_by_test_id("long-text")).to_contain_text("user\nWhere is Mia?<|im_end|>")
    page.close()
