"""Files of each kind of picture: those that `attnviz figure LINK` writes, alive without a network, films that play."""

import base64
import csv
import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree.ElementTree import canonicalize

import numpy as np
import pytest
from PIL import Image, ImageSequence
from playwright.sync_api import expect

from attnviz.app.links.link_reading import pack
from attnviz.serve.headless import FileRequest, app_link, figure_file, run_page
from tests.browser.conftest import at_rest, still, until
from tests.browser.saving import open_menu, press_in_menu, saved


@dataclass(frozen=True)
class Picture:
    """A picture that is saved from a menu of this key; `choice` is its name in the menu of the one beside it."""

    key: str
    canvas: str = ""  #: the key of the canvas, which its live file shows
    films: str = ""  #: kinds in which the page saves its film
    gif: bool = False  #: whether the live file saves it, too
    png: int = 0  #: how far from white its PNG is on average; ribbons leave most of theirs white
    choice: str = ""


HEAD = "head-out"  #: Explore's figure that a link is about; above it stands the overview
CAT = "explore?at=3.1&text=The+cat+sat+on+the+mat"
#: of more tokens than all heads are sent of
LONG = f"explore?at=3.1&text={'+'.join(['The+cat+sat+on+the+mat.'] * 10)}"
PINS = quote(pack({"pins": {"t": [["q", 3, "on"]], "c": [3, 1, "on", "cat"]}}))
CHANGED = "mask=none&scale=none&where=all&seen=after&by=previous_token&show=values"
#: every kind of picture, by the view that shows it
PICTURES = {
    "": [Picture("home-out", films="webm")],
    "?scaled=false": [Picture("home-out", "home", png=10)],
    "?scaled=false&start_matrix=true": [Picture("home-out", "home")],
    f"{CAT}&open_beside=true&open_place=true&open_average=true&c={PINS}": [
        Picture("cell-out", choice="Cell"),
        Picture("mosaic"),
        Picture("beside-out"),
        Picture("place-out", "place"),
        Picture("average-out", "average"),
    ],
    f"{CAT}&open_beside=true&{CHANGED}": [
        Picture("lines-out", choice="Lines"),
        Picture("mosaic"),
        Picture("beside-out"),
        Picture(HEAD, png=30),
    ],
    f"{LONG}&mask=none&where=layer&seen=after": [Picture("mosaic")],
    "masks?m_rule1=window&m_word=6": [Picture("m-grid-save", "m-grid")],
    "build?b_step=softmax": [Picture("build_step", "build_board")],
    "scaling?s_section=alternatives": [
        Picture("s_bars_alternatives_picture", "s_bars_alternatives", films="webm", gif=True)
    ],
    "scaling?s_dk=20": [Picture("s_walk_picture", "s_walk", films="webm")],
    "sharing?h_context=2048": [Picture("h-three", "canvas-of-h-three")],
    "decoding?d_model=core&d_prompt=hello&d_steps=4": [
        Picture("d_player_save", "d_player", films="webm", gif=True),
        Picture("d_bricks_save", "d_bricks"),
    ],
    "decoding?d_view=bytes": [Picture("d_growth_save", "d_growth")],
    "glossary?w_find=cache&w_order=alphabet": [Picture("w_wall_save", "glossary")],
    "compare?c_distance=9&c_step=4&c_dilated=true": [Picture("c_race_save", "c_race", films="webm")],
    "positions?p_turned=0": [Picture("p_dial_save", "p_dial", films="webm")],
    "positions?p_section=scores": [Picture("p_map")],
    "fast": [Picture("fast-film-save", "fast-film", films="webm mp4")],
    "fast?fast_n=300&fast_pass=backward": [Picture("fast-film-save", "fast-film", gif=True)],
    "born?born_at=185&born_guess=never&born_off=0.1": [Picture("born-film-out", "born-film", films="webm", gif=True)],
    "why?why_at=23.4&why_silence=true": [Picture("why-parts", "why-flows")],
    "heads?hd_model=minilm-l6&hd_order=layer": [Picture("hd_map", "hd_map_canvas")],
    "mistakes?mistake=top_left&guess=top_left.7": [Picture("mistake-wrong-save", "mistake-wrong")],
    "pictures": [Picture("patches-out", "patches", png=20), Picture("patches-all")],
}
#: bytes of a live file, but of a picture of pixels, which has them and all heads
LARGEST = 300_000
#: whatever a clock measured is another number each time
SECONDS = re.compile(r"[\d.,]+\s(?:µs|ms|s)\b")
BLANK = """(root) => [...root.querySelectorAll("canvas")].filter((canvas) => {
    const { width, height } = canvas;
    if (!width || !height || !canvas.checkVisibility()) return false;
    const pixels = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, width, height).data.buffer);
    return pixels.every((pixel) => pixel === pixels[0]);
}).map((canvas) => canvas.className)"""
PLAYED = """async ([data, kind]) => {
    const video = document.createElement("video");
    Object.assign(video, {muted: true, src: `data:video/${kind};base64,${data}`});
    document.body.append(video);
    await new Promise((go, fail) => { video.onloadeddata = go; video.onerror = () => fail(video.error); });
    const seen = () => {
        const canvas = Object.assign(document.createElement("canvas"), {width: 64, height: 36});
        canvas.getContext("2d").drawImage(video, 0, 0, 64, 36);
        return [...canvas.getContext("2d").getImageData(0, 0, 64, 36).data];
    };
    const first = seen();
    video.playbackRate = 8;
    const ended = new Promise((go) => { video.onended = go; });
    await video.play();
    await ended;
    const sought = new Promise((go) => { video.onseeked = go; });
    video.currentTime = video.duration - 0.05;  // at such a speed the last frames may not have been painted
    await sought;
    const last = seen();
    video.remove();
    const far = Math.max(...first.map((v, i) => Math.abs(v - last[i])));
    return [video.videoWidth, video.videoHeight, video.duration, far];
}"""


def saved_bytes(page: Any, button: Any) -> bytes:
    return Path(saved(page, button).path()).read_bytes()


def steady(svg: str) -> str:
    """The SVG as it is drawn, whatever name plotly.js gives its parts by lot, and in which order it says attributes.

    The order depends on whether the chart was drawn before; canonical XML has one.
    """
    lot = re.search(r'id="(?:top)?defs-([0-9a-f]{6})"', svg)
    unclocked = re.sub(r">[\d.]+ (?:s|ms|µs)<", "><", svg)  # of a step, by the clock of who computed it
    return canonicalize(unclocked.replace(lot[1], "000000") if lot else unclocked)


def same_table(one: str, other: str) -> bool:
    """Whether two CSV files hold the same words and, to what two processors may differ by in a pass, numbers."""
    rows, others = (list(csv.reader(io.StringIO(text))) for text in (one, other))
    cells, other_cells = ([cell for row in table for cell in row] for table in (rows, others))
    return [len(row) for row in rows] == [len(row) for row in others] and all(
        mine == their or abs(float(mine) - float(their)) < 1e-5 for mine, their in zip(cells, other_cells, strict=True)
    )


def same_document(one: str, other: str) -> bool:
    """Whether two live files are the same but for the packed scores of a model."""
    packed = re.compile(r'(<script type="application/octet-stream"[^>]*>)[^<]*')
    return packed.sub(r"\1", one) == packed.sub(r"\1", other)


def same_picture(one: bytes, other: bytes, ink: int) -> None:
    """Two PNG files show the same, and something."""
    a, b = (np.asarray(Image.open(io.BytesIO(each)).convert("RGB"), np.float64) for each in (one, other))
    assert a.shape == b.shape
    assert np.abs(a - b).mean() < 4, "of 255; letters are smoothed in two ways"
    assert np.abs(a - 255).mean() > ink, "something is drawn"


def text_of(root: Any) -> str:
    """Its words, but for the way to a field that only the page has."""
    return " ".join(SECONDS.sub("…", root.inner_text()).replace("✎ Type your own", "").split())


def shows_the_same(page: Any, file: Any, key: str, title: str) -> None:
    """What a file shows is what the page shows, and its controls break nothing."""
    on_page, root = page.locator(f".st-key-{key} .av-root"), file.locator(".av-root")
    expect(root).to_be_visible()
    expect(file.locator("h1")).to_have_text(title)
    until(lambda: text_of(root) == text_of(on_page) and root.evaluate(BLANK) == on_page.evaluate(BLANK))
    assert root.bounding_box()["height"] > 60
    assert file.evaluate("document.fonts.check(\"14px 'Source Sans 3'\")")
    for control in root.locator("input[type=range], button:visible:enabled").all()[:8]:
        control.press("ArrowRight")
        control.press("Space")  # a gesture that Python would answer may do nothing, and breaks nothing


def a_part_of_its_film(file: Any) -> Any:
    """The film that a file saves of its picture: a quarter of it."""
    file.locator(".live-film summary").click()
    film = file.locator(".av-film")
    film.locator("canvas").wait_for()
    assert film.get_by_label("Kind of file").locator("option").all_inner_texts() == ["GIF"]
    film.get_by_role("slider", name="To").fill("25")
    gif: Any = Image.open(io.BytesIO(film_of(file, film)))
    assert gif.size == (1280, 720)
    assert gif.n_frames >= 2
    return gif


def film_of(page: Any, film: Any) -> bytes:
    with page.expect_download(timeout=120_000) as download:
        film.get_by_role("button", name="Save the film").click()
    return Path(download.value.path()).read_bytes()


def plays(page: Any, kinds: list[str]) -> None:
    """The film of the picture whose menu is open plays to its end."""
    page.locator("button[data-kind=film]").click()
    film = page.locator(".av-film")
    film.locator("canvas").wait_for()
    for kind in kinds:
        film.get_by_label("Kind of file").select_option(kind)
        data = base64.b64encode(film_of(page, film)).decode()
        width, height, seconds, difference = page.evaluate(PLAYED, [data, kind])
        assert (width, height) == (1280, 720)
        assert 3 < seconds < 30
        assert difference > 40, "the first and the last frame are different moments"


@pytest.mark.parametrize("link", PICTURES)
def test_what_a_page_saves_of_a_picture_is_what_the_command_writes_opens_alone_and_plays(
    link, opened, new_page, tmp_path
):
    page = opened(link, locale="en", reduced_motion="reduce")  # no film is on its way while it is saved
    expect(page.locator("[class*='st-key-live-']")).to_have_count(0, timeout=60_000)
    still(page)
    for each in PICTURES[link]:
        open_menu(page.locator(f".st-key-{HEAD if each.choice else each.key}-save-menu button").first)
        if each.choice:
            page.get_by_role("radio", name=each.choice, exact=True).click()
            page.locator(f".st-key-{each.key}-files").wait_for()
        figure = run_page(app_link(link), each.key).figure
        theirs = saved_bytes(page, page.locator("button[data-kind=svg]")).decode()
        mine = figure_file(figure, "svg", FileRequest()).decode()
        assert steady(mine) == steady(theirs)
        assert "Made with attnviz" in mine
        if (button := page.get_by_role("button", name="CSV, the numbers")).count():
            mine, theirs = figure_file(figure, "csv", FileRequest()).decode(), saved_bytes(page, button).decode()
            assert mine == theirs or same_table(mine, theirs)
        if each.png:
            same_picture(
                figure_file(figure, "png", FileRequest()),
                saved_bytes(page, page.locator("button[data-kind=png]")),
                each.png,
            )
        if each.canvas:
            content = saved_bytes(page, page.get_by_role("button", name=re.compile("HTML")).first)
            mine = figure_file(figure, "html", FileRequest()).decode()
            assert each.key == "d_player_save" or same_document(mine, content.decode())
            assert link == "pictures" or len(content) <= LARGEST
            (tmp_path / "canvas.html").write_bytes(content)
            file, asked = new_page(offline=True, bypass_csp=False, reduced_motion="reduce"), []
            file.on("request", lambda request, asked=asked: asked.append(request.url[:60]))
            file.goto((tmp_path / "canvas.html").as_uri())
            shows_the_same(page, file, each.canvas, figure.title)
            if each.gif:
                a_part_of_its_film(file)
            assert [address for address in asked[1:] if not address.startswith(("data:", "blob:"))] == []
            file.close()
        moves = getattr(figure.fig, "film", None) is not None
        assert page.locator("button[data-kind=film]").is_visible() == moves
        if each.films:
            plays(page, each.films.split())
        page.keyboard.press("Escape")
        page.locator("button[data-kind=svg]").wait_for(state="detached")


def test_files_are_said_to_be_on_their_way_a_credit_can_be_left_out_and_a_film_can_be_stopped(opened):
    page = opened("fast", locale="en", reduced_motion="reduce")
    broken = {"body": "throw new Error();", "content_type": "text/javascript"}  # what is missing, the console tells of
    page.route("**/film_menu.js*", lambda route: route.fulfill(**broken))
    menu, button = page.locator(".st-key-fast-film-save-save-menu button").first, page.locator("button[data-kind=film]")
    still(page)
    open_menu(menu)
    button.click()
    expect(page.get_by_text("What a film is saved with could not be fetched")).to_be_visible()
    expect(button).to_be_enabled()

    page.unroute("**/film_menu.js*")
    page.reload()
    at_rest(page)
    still(page)
    open_menu(menu)
    for name in ("CSV, the numbers", "Live HTML"):
        saved(page, page.get_by_role("button", name=name))
        said = page.locator("[aria-live=polite]").filter(has_text=f"“{name}” is on its way to your downloads.")
        expect(said).to_have_count(1)
    press_in_menu(page.get_by_label("Credit line"))
    expect(page.get_by_label("Credit line")).not_to_be_checked()
    mine = figure_file(run_page(app_link("fast"), "fast-film-save").figure, "svg", FileRequest(credit="")).decode()
    assert saved_bytes(page, page.locator("button[data-kind=svg]")).decode() == mine
    assert "Made with" not in mine
    expect(page.get_by_text("is in your downloads.")).to_be_visible()

    button.click()
    film = page.locator(".av-film")
    film.locator("canvas").wait_for()
    film.get_by_label("Kind of file").select_option("gif")
    film.get_by_label("Shape").select_option("square")
    film.get_by_label("To").fill("25")
    gif = Image.open(io.BytesIO(film_of(page, film)))
    assert (gif.size, len(list(ImageSequence.Iterator(gif)))) == ((1080, 1080), 16), "a quarter of 60, and one"

    film.get_by_label("To").fill("100")
    downloads: list[Any] = []
    page.on("download", lambda one: downloads.append(one))
    film.get_by_role("button", name="Save the film").click()
    film.get_by_role("button", name="Stop").click()
    expect(film.get_by_text("Stopped: nothing was saved.")).to_be_visible()
    assert not downloads


def test_without_a_name_a_link_gives_the_figure_that_it_is_about(server_url):
    answer = run_page(app_link("explore?at=13.8"), "")
    assert answer.figure is not None
    assert answer.figure.file_name == "attention-smollm2-135m-layer13-head8"
    assert run_page(app_link("explore?at=13.8")).names[0] == "attention-all-heads-smollm2-135m"
