"""Canvases as files that stay alive: each opened from disk without a network, beside the page that it was saved on."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

import attnviz as av
from attnviz import live
from attnviz.base.head_record import HeadData, HeadGrid, HeadView, Pin, Pins
from attnviz.live.matrix_figures import HeadFilm
from attnviz.live.scene_figure import FrameOptions, SceneFigure
from attnviz.serve.headless import FileRequest, app_link, figure_file, run_page
from tests.live.test_film_file import a_head
from tests.models.tiny import llama, tokens
from tests.svg_reading import texts
from tests.waiting import until

Open = Callable[..., Any]
LARGEST = 300_000  #: bytes of a file
#: a view, the figure in it, and the key of its canvas
CANVASES = {
    "step_player": ("decoding?d_model=core&d_steps=4", "d_player_save", "d_player"),
    "cache_growth, bricks": ("decoding?d_model=core&d_steps=4", "d_bricks_save", "d_bricks"),
    "cache_growth": ("decoding?d_view=bytes", "d_growth_save", "d_growth"),
    "glossary_wall": ("glossary?w_order=alphabet", "w_wall_save", "glossary"),
    "signal_race": ("compare?c_distance=12", "c_race_save", "c_race"),
    "tile_film": ("fast?fast_n=96", "fast-film-save", "fast-film"),
    "tile_film, fetched": ("fast?fast_n=300&fast_pass=backward", "fast-film-save", "fast-film"),
    "birth": ("born?born_at=185&born_guess=never&born_off=0.1", "born-film-out", "born-film"),
    "softmax_slider": ("scaling?s_section=alternatives", "s_bars_alternatives_picture", "s_bars_alternatives"),
    "score_walk": ("scaling?s_dk=20", "s_walk_picture", "s_walk"),
    "word_dial": ("positions?p_turned=0", "p_dial_save", "p_dial"),
    "logit_flows": ("why?why_at=23.4&why_silence=true", "why-parts", "why-flows"),
    "mask": ("masks", "m-grid-save", "m-grid"),
    "tensor_board": ("build?b_step=softmax", "build_step", "build_board"),
    "sharing_columns": ("sharing?h_context=2048", "h-three", "canvas-of-h-three"),
    "heads_map": ("heads?hd_model=minilm-l6&hd_order=layer", "hd_map", "hd_map_canvas"),
    "model_strip": ("explore?open_place=true", "place-out", "place"),
    "head, mean": ("explore?open_average=true", "average-out", "average"),
    "head, mistake": ("mistakes?mistake=top_left&guess=top_left.7", "mistake-wrong-save", "mistake-wrong"),
    "ribbons": ("?start_matrix=true", "home-out", "home"),
    "ribbons, folded": ("?causal=false", "home-out", "home"),
    "patch_view": ("pictures", "patches-out", "patches"),
}
#: whatever a clock measured is another number each time
SECONDS = re.compile(r"[\d.,]+\s(?:µs|ms|s)\b")
BLANK = """(root) => [...root.querySelectorAll("canvas")].filter((canvas) => {
    const { width, height } = canvas;
    if (!width || !height || !canvas.checkVisibility()) return false;
    const pixels = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, width, height).data.buffer);
    return pixels.every((pixel) => pixel === pixels[0]);
}).map((canvas) => canvas.className)"""


def text_of(root: Any) -> str:
    """Its words, but for the way to a field that only the page has."""
    return " ".join(SECONDS.sub("…", root.inner_text()).replace("✎ Type your own", "").split())


@pytest.fixture
def alone(new_page: Open, tmp_path: Path) -> Any:
    """`alone(page)`: a file in a browser without a network; whatever it asks for is told."""

    def open_it(content: bytes, query: str = "", **window: Any) -> Any:
        file = tmp_path / "canvas.html"
        file.write_bytes(content)
        page = new_page(offline=True, bypass_csp=False, **window)
        page.asked = []
        page.on("request", lambda request: page.asked.append(request.url[:60]))
        page.goto(file.as_uri() + query)
        return page

    return open_it


@pytest.mark.parametrize("name", CANVASES)
def test_a_canvas_s_file_shows_what_the_page_shows(name: str, opened: Open, alone: Any) -> None:
    view, figure, key = CANVASES[name]
    made = run_page(app_link(view), figure).figure
    assert made is not None
    content = figure_file(made, "html", FileRequest())
    assert name == "patch_view" or len(content) <= LARGEST  # a picture's file has all heads, and the picture
    on_page = opened(view, reduced_motion="reduce").locator(f".st-key-{key} .av-root")
    expect(on_page).to_be_visible()
    file = alone(content, reduced_motion="reduce")
    root = file.locator(".av-root")
    expect(root).to_be_visible()
    expect(file.locator("h1")).to_have_text(made.title)
    until(lambda: text_of(root) == text_of(on_page) and root.evaluate(BLANK) == on_page.evaluate(BLANK))
    box = root.bounding_box()
    assert box is not None
    assert box["height"] > 60
    assert file.evaluate("document.fonts.check(\"14px 'Source Sans 3'\")")
    for control in root.locator("input[type=range], button:visible:enabled").all()[:8]:
        control.press("ArrowRight")
        control.press("Space")  # a gesture that Python would answer may do nothing, and breaks nothing
    assert [each for each in file.asked[1:] if not each.startswith("data:")] == []


def film_of(file: Any) -> Any:
    """The film that a file saves, a quarter of it."""
    expect(file.locator(".live-film")).to_have_count(1)
    file.locator(".live-film summary").click()
    film = file.locator(".av-film")
    film.locator("canvas").wait_for()
    assert film.get_by_label("Kind of file").locator("option").all_inner_texts() == ["GIF"]
    film.get_by_role("slider", name="To").fill("25")
    with file.expect_download(timeout=60_000) as download:
        film.get_by_role("button", name="Save the film").click()
    return Image.open(download.value.path())


@pytest.mark.parametrize("name", ["step_player", "tile_film, fetched", "birth", "softmax_slider"])
def test_a_file_of_what_moves_saves_its_film_without_a_network(name: str, alone: Any) -> None:
    view, figure, _key = CANVASES[name]
    made = run_page(app_link(view), figure).figure
    file = alone(figure_file(made, "html", FileRequest()))
    gif = film_of(file)
    assert gif.size == (1280, 720)
    assert gif.n_frames >= 2
    assert not [address for address in file.asked if address.startswith("http")]


def test_a_file_of_heads_saves_the_film_of_the_row_on_show(alone: Any) -> None:
    heads = [replace(a_head(6, 6)[0], scores=seed * a_head(6, 6)[0].scores, q=None, k=None) for seed in (1, 2)]
    view = live.LiveView(heads, HeadGrid.of([2]), HeadView("one", tile=(0, 1), pins=Pins((Pin("q", 3),))))
    content = live.live_page(view, "dark").encode()
    assert len(content) <= LARGEST
    file = alone(content)
    gif = film_of(file)
    assert gif.n_frames == 16, "a quarter of 60, and its last"
    assert max(gif.convert("RGB").getpixel((2, 2))) < 40, "on paper as dark as the file"
    film = "document.querySelector('.live-head').picture.film"
    theme = "{text: '#000', background: '#fff', k: '#c00', q: '#00c', font: 'x', dark: false}"
    title = file.evaluate(f"() => {film}.figure(1, {theme}).title")
    part = HeadFilm(heads[1], 3)
    (frame,), _seconds = SceneFigure((part,), film=part).frames(FrameOptions(start=1))
    assert title in texts(ElementTree.fromstring(frame))


def test_a_file_of_weights_alone_offers_no_film(alone: Any) -> None:
    weights = HeadData.of_values(np.full((2, 2), 0.5), ["a", "b"])
    file = alone(live.live_page(live.LiveView([weights], HeadGrid.of([1]))).encode())
    expect(file.locator(".live-head canvas").first).to_be_visible()
    expect(file.locator(".live-film")).to_have_count(0)


def test_a_long_text_s_file_names_its_head_once_and_has_a_title_where_one_is_given(
    alone: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attnviz.notebook.view.LONG", 1)  # a text of seven tokens is a long one
    trace = av.capture(llama(), input_ids=tokens())
    for title in ("", "Seven tokens"):
        file = alone(av.show(trace, heads=[(1, 4), (0, 2)], title=title).html.encode())
        expect(file.locator("[data-head='1.4']")).to_be_attached()
        expect(file.get_by_text("Layer 1, head 4", exact=True)).to_have_count(1)
        assert file.locator("h1").all_text_contents() == ([title] if title else [])
        file.close()
