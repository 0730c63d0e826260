"""The file that leaves the app, opened from disk in a real Chromium with the network cut."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from playwright.sync_api import expect

import attnviz as av
from attnviz.analysis.head_matrix import raw_heads
from attnviz.analysis.model_run import Request, run_model
from attnviz.base.head_record import HeadData, HeadGrid, HeadView, Pin, Pins
from attnviz.live import LiveView, live_page
from attnviz.live.matrix_figures import HeadFilm
from attnviz.live.scene_figure import FrameOptions, SceneFigure
from tests.browser.canvas_places import cell, name_on, tile
from tests.browser.conftest import answered, at_rest, until
from tests.browser.saving import open_menu, saved_in
from tests.browser.test_figure_files import a_part_of_its_film
from tests.live.test_film_file import a_head
from tests.models.conftest import smollm2
from tests.models.tiny import llama, tokens
from tests.svg_reading import texts

__all__ = ["smollm2"]

TEXT = "The animal didn't cross the street because it was too tired."
CELLS = [(8, 1), (8, 0), (3, 1), (12, 12), (5, 2)]
Open = Callable[..., Any]


@pytest.fixture
def alone(new_page: Open) -> Open:
    """`alone(file)`: a file in a browser without a network, and `asked`, what it asked for."""

    def open_it(file: Path) -> Any:
        page = new_page(offline=True, bypass_csp=False)
        page.asked = []
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto(file.as_uri())
        return page

    return open_it


def value_at(page: Any, q: int, k: int) -> float:
    """The weight that the read-out says when a cell is pointed at."""
    page.mouse.move(*cell(page, q, k, 13))
    said = page.get_by_test_id("readout")
    expect(said).to_contain_text(f"({k}): ")
    expect(said).to_contain_text(f"({q}) ")
    return float(said.text_content().rsplit(": ", 1)[1])


def rows_of(page: Any, stack: Any, layer: int, head: int) -> None:
    """The read-outs of cells are the weights, to the three digits that they have."""
    wanted = stack.layers[layer].weights(head)[0, 0].float().numpy()
    for q, k in CELLS:
        assert value_at(page, q, k) == pytest.approx(float(wanted[q, k]), abs=7e-4), (q, k)


def test_all_heads_open_with_what_was_pinned_and_another_is_chosen_by_mouse_and_by_key(alone, smollm2, tmp_path):
    stack = run_model(Request("smollm2-135m", TEXT), smollm2).stacks[0]
    view = HeadView("Layer 13, head 8", tile=(13, 8), titles="Layer {layer}, head {head}", pins=Pins((Pin("q", 8),)))
    link = "https://attention.example/explore?at=13.8"
    heads = raw_heads(stack.layers, *stack.tokens)
    file = tmp_path / "heads.html"
    file.write_text(live_page(LiveView(heads, stack.grid, view, title="A title <b>", link=link)), "utf-8")
    page = alone(file)
    expect(page.locator(".live-head")).to_have_attribute("data-painted", re.compile(r"."))
    assert page.locator("h1").text_content() == "A title <b>"
    assert page.locator(".av-title").text_content() == "Layer 13, head 8"
    assert page.locator(".live-head").get_attribute("data-pins") == "q8"
    assert page.get_by_role("link", name="Open in the app").get_attribute("href") == link
    rows_of(page, stack, 13, 8)
    stage = page.get_by_test_id("heatmap")
    page.mouse.move(3, 3)
    light = stage.screenshot()
    page.emulate_media(color_scheme="dark")
    until(lambda: stage.screenshot() != light)
    assert page.locator(".live-head").get_attribute("data-pins") == "q8", "what was pinned stays"
    page.mouse.click(*tile(page, 7 * 9 + 4))
    expect(page.locator(".av-title")).to_have_text("Layer 7, head 4")
    rows_of(page, stack, 7, 4)
    page.get_by_test_id("overview").focus()
    for key in ("ArrowDown", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect(page.locator(".av-title")).to_have_text("Layer 8, head 5")
    rows_of(page, stack, 8, 5)
    assert [url for url in page.asked if not url.startswith("file:")] == []


def test_the_app_saves_this_head_and_all_heads(server_url, new_page, alone, tmp_path):
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
        kept = alone(file)
        kept.get_by_test_id("heatmap").wait_for()
        assert kept.get_by_test_id("overview").count() == several
        assert kept.locator(".av-title").text_content().startswith("Layer 5, head 4")
        assert kept.locator(".live-head").get_attribute("data-pins") == "q4"
        expect(kept.get_by_test_id("mask")).to_have_value("window")
        assert "127.0.0.1" not in file.read_text("utf-8"), "no link that opens nothing elsewhere"


def test_a_file_of_heads_saves_the_film_of_the_row_on_show_and_one_of_weights_alone_has_none(alone, tmp_path):
    heads = [replace(a_head(6, 6)[0], scores=seed * a_head(6, 6)[0].scores, q=None, k=None) for seed in (1, 2)]
    view = LiveView(heads, HeadGrid.of([2]), HeadView("one", tile=(0, 1), pins=Pins((Pin("q", 3),))))
    file = tmp_path / "heads.html"
    file.write_text(live_page(view, "dark"), "utf-8")
    page = alone(file)
    gif = a_part_of_its_film(page)
    assert gif.n_frames == 16, "a quarter of 60, and its last"
    assert max(gif.convert("RGB").getpixel((2, 2))) < 40, "on paper as dark as the file"
    film = "document.querySelector('.live-head').picture.film"
    theme = "{text: '#000', background: '#fff', k: '#c00', q: '#00c', font: 'x', dark: false}"
    title = page.evaluate(f"() => {film}.figure(1, {theme}).title")
    part = HeadFilm(heads[1], 3)
    (frame,), _seconds = SceneFigure((part,), film=part).frames(FrameOptions(start=1))
    assert title in texts(ElementTree.fromstring(frame))
    weights = HeadData.of_values(np.full((2, 2), 0.5), ["a", "b"])
    file.write_text(live_page(LiveView([weights], HeadGrid.of([1]))), "utf-8")
    page = alone(file)
    expect(page.locator(".live-head canvas").first).to_be_visible()
    expect(page.locator(".live-film")).to_have_count(0)


def test_a_long_text_s_file_names_its_head_once_and_has_a_title_where_one_is_given(alone, monkeypatch, tmp_path):
    monkeypatch.setattr("attnviz.notebook.view.LONG", 1)  # a text of seven tokens is a long one
    trace = av.capture(llama(), input_ids=tokens())
    for title in ("", "Seven tokens"):
        page = alone(av.show(trace, heads=[(1, 4), (0, 2)], title=title).save(tmp_path / "long.html"))
        expect(page.locator("[data-head='1.4']")).to_be_attached()
        expect(page.get_by_text("Layer 1, head 4", exact=True)).to_have_count(1)
        assert page.locator("h1").all_text_contents() == ([title] if title else [])
