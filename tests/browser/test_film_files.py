"""Films saved in the browser: they play to their end, hold what was chosen, and can be stopped."""

import base64
import io
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from PIL import Image, ImageSequence
from playwright.sync_api import expect

from attnviz.live.scene_figure import FrameOptions
from attnviz.serve.headless import app_link, run_page
from tests.browser.conftest import still
from tests.svg_reading import texts

#: links of pictures that move, and the keys of their menus
FILMS = {
    "decoding?d_model=core&d_prompt=hello&d_steps=4": "d_player_save",
    "fast": "fast-film-save",
    "born": "born-film-out",
    "scaling?s_section=alternatives": "s_bars_alternatives_picture",
    "scaling": "s_walk_picture",
    "?lang=en": "home-out",
    "compare": "c_race_save",
    "positions": "p_dial_save",
}
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
    const far = Math.max(...first.map((v, i) => Math.abs(v - last[i])));
    return [video.videoWidth, video.videoHeight, video.duration, far];
}"""


def controls_of(page: Any, key: str) -> Any:
    """The controls of the film of a picture."""
    still(page)
    page.locator(f".st-key-{key}-save-menu button").first.click()
    page.locator("button[data-kind=film]").click()
    film = page.locator(".av-film")
    film.locator("canvas").wait_for()
    return film


def saved(page: Any, film: Any) -> bytes:
    with page.expect_download(timeout=120_000) as download:
        film.get_by_role("button", name="Save the film").click()
    return Path(download.value.path()).read_bytes()


@pytest.mark.parametrize("link", FILMS)
def test_a_film_plays_to_its_end_in_the_kinds_that_this_browser_encodes(opened, link):
    page = opened(link, f".st-key-{FILMS[link]}-save-menu button", reduced_motion="reduce")  # else it plays on arrival
    film = controls_of(page, FILMS[link])
    kind = film.get_by_label("Kind of file")
    for name in ("webm", "mp4")[: 2 if link == "fast" else 1]:
        kind.select_option(name)
        data = base64.b64encode(saved(page, film)).decode()
        width, height, seconds, difference = page.evaluate(PLAYED, [data, name])
        assert (width, height) == (1280, 720)
        assert 3 < seconds < 30
        assert difference > 40, "the first and the last frame are different moments"


def test_files_are_said_to_be_on_their_way_a_gif_of_a_part_has_its_frames_and_a_film_can_be_stopped(opened):
    page = opened("fast", ".st-key-fast-film-save-save-menu button", reduced_motion="reduce")
    film = controls_of(page, "fast-film-save")
    for name in ("CSV, the numbers", "Live HTML"):
        with page.expect_download(timeout=60_000):
            page.get_by_role("button", name=name).click()
        said = page.locator("[aria-live=polite]").filter(has_text=f"“{name}” is on its way to your downloads.")
        expect(said).to_have_count(1)

    film.get_by_label("Kind of file").select_option("gif")
    film.get_by_label("Shape").select_option("square")
    film.get_by_label("To").fill("25")
    gif = Image.open(io.BytesIO(saved(page, film)))
    assert (gif.size, len(list(ImageSequence.Iterator(gif)))) == ((1080, 1080), 16), "a quarter of 60, and one"

    film.get_by_label("To").fill("100")
    downloads: list[Any] = []
    page.on("download", lambda one: downloads.append(one))
    film.get_by_role("button", name="Save the film").click()
    film.get_by_role("button", name="Stop").click()
    expect(film.get_by_text("Stopped: nothing was saved.")).to_be_visible()
    assert not downloads


def test_a_film_whose_script_cannot_be_fetched_says_so_and_can_be_asked_for_again(opened):
    page = opened("fast", ".st-key-fast-film-save-save-menu button", reduced_motion="reduce")
    broken = {"body": "throw new Error();", "content_type": "text/javascript"}  # what is missing, the console tells of
    page.route("**/film_menu.js*", lambda route: route.fulfill(**broken))
    still(page)
    page.locator(".st-key-fast-film-save-save-menu button").first.click()
    button = page.locator("button[data-kind=film]")
    button.click()
    expect(page.get_by_text("What a film is saved with could not be fetched")).to_be_visible()
    expect(button).to_be_enabled()


def test_the_film_of_a_head_is_of_the_row_that_was_pressed_and_the_command_s_is_the_same(opened):
    link = 'explore?at=3.1&pins={"t":[["q",4,"was"]]}'
    page = opened(link, ".st-key-head-out-save-menu button")
    root = "[...document.querySelectorAll('.st-key-head *')].find((node) => node.shadowRoot).shadowRoot"
    picture = f"{root}.querySelector('.av-root').picture"
    theme = "{text: '#000', background: '#fff', k: '#c00', q: '#00c', font: 'x', dark: false}"
    titles = page.evaluate(f"() => [0, 0.3, 0.5, 0.7, 1].map((at) => {picture}.film.figure(at, {theme}).title)")
    figure = run_page(app_link(link), "head-out").figure.fig
    for at, title in zip((0, 0.3, 0.5, 0.7, 1), titles, strict=True):
        (frame,), _seconds = figure.frames(FrameOptions(start=at, end=at, width=4000))
        assert title in texts(ElementTree.fromstring(frame))
