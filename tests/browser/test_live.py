"""The file that leaves the app, opened from disk in a real Chromium with the network cut."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from attnviz.analysis.head_matrix import raw_head, raw_heads
from attnviz.analysis.model_run import Request, run_model
from attnviz.base.head_record import HeadGrid, HeadView, Pin, Pins
from attnviz.live import LiveView, live_page
from tests.browser.canvas_places import cell, drag, mask_door, name_on, tile
from tests.browser.conftest import answered, at_rest, until
from tests.browser.saving import open_menu, saved_in
from tests.models.conftest import smollm2

__all__ = ["smollm2"]

pytestmark = pytest.mark.xdist_group("live")

TEXT = "The animal didn't cross the street because it was too tired."
Open = Callable[..., Any]


@pytest.fixture(scope="module")
def stack(smollm2: Any) -> Any:
    return run_model(Request("smollm2-135m", TEXT), smollm2).stacks[0]


@pytest.fixture(scope="module")
def files(stack: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two files as the app writes them: every head, and one."""
    folder = tmp_path_factory.mktemp("live")
    titles = "Layer {layer}, head {head}"
    first = HeadView("Layer 13, head 8", tile=(13, 8), titles=titles)
    every, pinned = raw_heads(stack.layers, *stack.tokens), replace(first, pins=Pins((Pin("q", 8),)))
    title, link = "A title <b>", "https://attention.example/explore?at=13.8"
    made = {
        "all": LiveView(every, stack.grid, pinned, title=title, link=link),
        "laid": LiveView(every, stack.grid, HeadView(tile=(13, 8), over=(2, 7))),
        "one": LiveView([raw_head(stack, 13, 8)], HeadGrid.of([1]), first, title=title),
    }
    for name, view in made.items():
        (folder / f"{name}.html").write_text(live_page(view), encoding="utf-8")
    return {name: folder / f"{name}.html" for name in made}


@pytest.fixture
def opened(files: dict[str, Path], new_page: Open) -> Open:
    """`opened("all", "?theme=dark")`: a file, with no network; requests but for the file itself fail the test."""

    def open_it(name: str, query: str = "", **options: Any) -> Any:
        alone = new_page(offline=True, bypass_csp=False, **options)
        asked: list[str] = []
        alone.on("request", lambda request: asked.append(request.url))
        alone.asked = asked
        alone.goto(files[name].as_uri() + query)
        alone.get_by_test_id("heatmap").wait_for()
        expect(alone.locator(".live-head")).to_have_attribute("data-painted", re.compile(r"."))
        return alone

    return open_it


def weights_of(stack: Any, layer: int, head: int, **change: Any) -> np.ndarray:
    return stack.layers[layer].weights(head, **change)[0, 0].float().numpy()


def value_at(page: Any, q: int, k: int) -> float:
    """The weight that the read-out says when a cell is pointed at."""
    page.mouse.move(*cell(page, q, k, 13))
    said = page.get_by_test_id("readout")
    expect(said).to_contain_text(f"({k}): ")
    expect(said).to_contain_text(f"({q}) ")
    return float(said.text_content().rsplit(": ", 1)[1])


def rows_of(page: Any, wanted: np.ndarray, cells: list[tuple[int, int]]) -> None:
    """The read-outs of these cells are the weights, to the three digits that they have."""
    for q, k in cells:
        assert value_at(page, q, k) == pytest.approx(float(wanted[q, k]), abs=7e-4), (q, k)


CELLS = [(8, 1), (8, 0), (3, 1), (12, 12), (5, 2)]


def test_all_heads_open_with_what_was_pinned_and_another_is_chosen_by_mouse_and_by_key(opened, stack):
    page = opened("all")
    assert page.locator("h1").text_content() == "A title <b>"
    assert page.locator(".av-title").text_content() == "Layer 13, head 8"
    assert page.locator(".live-head").get_attribute("data-pins") == "q8"
    link = page.get_by_role("link", name="Open in the app")
    assert link.get_attribute("href") == "https://attention.example/explore?at=13.8"
    rows_of(page, weights_of(stack, 13, 8), CELLS)
    stage = page.get_by_test_id("heatmap")
    page.mouse.move(3, 3)
    light = stage.screenshot()
    page.emulate_media(color_scheme="dark")
    until(lambda: stage.screenshot() != light)
    assert page.locator(".live-head").get_attribute("data-pins") == "q8", "what was pinned stays"
    page.mouse.click(*tile(page, 7 * 9 + 4))
    expect(page.locator(".av-title")).to_have_text("Layer 7, head 4")
    rows_of(page, weights_of(stack, 7, 4), CELLS)
    page.get_by_test_id("overview").focus()
    for key in ("ArrowDown", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect(page.locator(".av-title")).to_have_text("Layer 8, head 5")
    rows_of(page, weights_of(stack, 8, 5), CELLS)
    assert [url for url in page.asked if not url.startswith("file:")] == []


def test_of_one_head_a_token_is_pinned_by_key_the_scale_is_dragged_and_the_mask_is_changed(opened, stack):
    page = opened("one")
    assert page.get_by_test_id("overview").count() == 0
    page.get_by_test_id("heatmap").focus()
    for key in ("ArrowDown", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    until(lambda: "q" in (page.locator(".live-head").get_attribute("data-pins") or ""))
    expect(page.get_by_test_id("lines").locator(".av-fade")).to_have_class(re.compile("av-faded"))
    page.keyboard.press("Escape")
    until(lambda: page.locator(".live-head").get_attribute("data-pins") == "")
    before, box = value_at(page, 8, 1), page.get_by_test_id("scale").bounding_box()
    drag(page, *((box["x"] + box["width"] * share, box["y"] + box["height"] / 2) for share in (0.5, 0.2)))
    scale, factor = json.loads(page.locator(".av-controls").get_attribute("data-edit"))[3:5]
    assert scale == "factor"
    assert factor < 0.9
    assert value_at(page, 8, 1) < before
    changed = stack.layers[13].scale * factor
    rows_of(page, weights_of(stack, 13, 8, scale=changed), CELLS)
    mask_door(page).get_by_test_id("mask").select_option("none")
    rows_of(page, weights_of(stack, 13, 8, scale=changed, mask=None), [(0, 5), (3, 12), (8, 1)])
    page.get_by_test_id("mask").select_option("window")
    near = torch.ones(13, 13, dtype=torch.bool).tril().triu(-3)
    rows_of(page, weights_of(stack, 13, 8, scale=changed, mask=near), [(8, 6), (12, 9)])


def test_the_app_saves_this_head_and_all_heads(server_url, new_page, tmp_path):
    page = new_page()
    page.goto(f"{server_url}/explore?at=5.4&mask=window&window=2")
    at_rest(page, "[data-testid=heatmap]")
    page.mouse.click(*name_on(page.get_by_test_id("heatmap").first, 4, 13))
    page.wait_for_url(re.compile(r"[?&]c="))
    answered(page)
    open_menu(page.locator(".st-key-head-out-under").get_by_role("button", name="Save", exact=True).first)
    for name, several in (("Live HTML: this head", False), ("Live HTML: all heads", True)):
        button = page.get_by_role("button", name=name, exact=True)
        button.wait_for()
        file = saved_in(page, button, tmp_path)
        alone = new_page(offline=True, bypass_csp=False)
        alone.goto(file.as_uri())
        alone.get_by_test_id("heatmap").wait_for()
        assert alone.get_by_test_id("overview").count() == several
        assert alone.locator(".av-title").text_content().startswith("Layer 5, head 4")
        assert alone.locator(".live-head").get_attribute("data-pins") == "q4"
        expect(alone.get_by_test_id("mask")).to_have_value("window")
        assert "127.0.0.1" not in file.read_text("utf-8"), "no link that opens nothing elsewhere"
