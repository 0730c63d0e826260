"""What `av.show` puts into a notebook's cell, in a real Chromium with the network cut."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

import attnviz as av
from tests.browser.canvas_places import inside_tile
from tests.models.tiny import llama, tokens

pytestmark = pytest.mark.browser
WORDS = ["The", "cat", "<b>", "sat", "on", "the", "mat"]


@pytest.fixture
def cell(browser: Any, tmp_path: Path) -> Any:
    view = av.show(av.capture(llama(), input_ids=tokens()), WORDS, layer=1, head=4)
    file = tmp_path / "cell.html"
    file.write_text(f"<!doctype html><meta charset=utf-8><p id=secret>notebook</p>{view._repr_html_()}", "utf-8")
    context = browser.new_context(viewport={"width": 1100, "height": 800}, offline=True)
    page = context.new_page()
    page.faults = []
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    page.goto(file.as_uri())
    yield page
    context.close()


def test_the_picture_is_drawn_and_another_head_can_be_chosen(cell: Any) -> None:
    inside = cell.frame_locator("iframe")
    expect(inside.locator(".av-title").first).to_have_text("Layer 1, head 4")
    stage = inside.get_by_test_id("overview")
    stage.click(position=inside_tile(stage, 2))  # of layer 0, head 2
    expect(inside.locator(".av-title").first).to_have_text("Layer 0, head 2")
    assert cell.faults == []


def test_its_scripts_cannot_read_the_notebook(cell: Any) -> None:
    expect(cell.frame_locator("iframe").locator(".av-title").first).to_be_visible()
    with pytest.raises(Exception, match=r"Blocked a frame|cross-origin|SecurityError"):
        cell.frames[1].evaluate("parent.document.getElementById('secret').textContent")


def test_the_still_picture_is_there_without_the_frame(cell: Any) -> None:
    cell.get_by_text("Still picture").click()
    still = cell.locator("details img")
    expect(still).to_be_visible()
    assert still.evaluate("image => image.naturalWidth") > 200
