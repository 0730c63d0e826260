"""`attnviz figure LINK` writes what the page behind the link saves: the same picture, the same bytes of numbers."""

import csv
import io
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree.ElementTree import canonicalize

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

from attnviz.app.links.link_reading import pack
from attnviz.serve.headless import FileRequest, app_link, figure_file, run_page
from tests.browser.conftest import answered
from tests.browser.saving import open_menu, press_in_menu, saved

LINKS = (
    "?scaled=false",
    "explore?at=3.1&mask=none&text=The+cat+sat+on+the+mat",
    "masks",
    "sharing",
    "positions?p_section=scores",
    "decoding?d_model=core&d_steps=6",
)
HEAD = "head-out"  #: Explore's figure that a link is about; above it stands the overview
CAT = "explore?at=3.1&text=The+cat+sat+on+the+mat"
#: of more tokens than all heads are sent of
LONG = f"explore?at=3.1&text={'+'.join(['The+cat+sat+on+the+mat.'] * 12)}"
PINS = {"t": [["q", 3, "on"]], "c": [3, 1, "on", "cat"]}
#: every other kind of picture that a canvas draws, by the key of its menu
PICTURES = (
    ("?scaled=false&start_matrix=true", "home-out"),
    (CAT, "lines-out"),
    (CAT, "mosaic"),
    (f"{CAT}&by=previous_token", "mosaic"),
    (f"{CAT}&mask=none&scale=none&where=all&seen=after", "mosaic"),
    (f"{LONG}&mask=none&where=layer&seen=after", "mosaic"),
    (f"{CAT}&open_beside=true", "beside-out"),
    (f"{CAT}&open_beside=true&show=values", "beside-out"),
    (f"{CAT}&open_beside=true&c={quote(pack({'pins': PINS}))}", "beside-out"),
    ("", "home-out"),
    (f"{CAT}&c={quote(pack({'pins': PINS}))}", "cell-out"),
    (f"{CAT}&open_place=true", "place-out"),
    ("masks?m_rule1=window&m_word=6", "m-grid-save"),
    ("build", "build_step"),
    ("scaling?s_section=alternatives", "s_bars_alternatives_picture"),
    ("decoding?d_view=bytes", "d_growth_save"),
    ("glossary?w_find=cache", "w_wall_save"),
    ("compare?c_distance=9&c_step=4&c_dilated=true", "c_race_save"),
    ("positions?p_turned=0", "p_dial_save"),
    ("fast", "fast-film-save"),
    ("born?born_at=1500", "born-film-out"),
    ("pictures", "patches-out"),
    ("pictures", "patches-all"),
)


#: pictures that are saved from the menu of the one beside them, and what they are called there
WITHIN = {"lines-out": (HEAD, "Lines"), "cell-out": (HEAD, "Cell")}


def saved_bytes(page: Any, button: Any) -> bytes:
    return Path(saved(page, button).path()).read_bytes()


def opened_menu(page: Any, url: str) -> str:
    """Open the export menu of the figure that the page is about; its key."""
    page.goto(url)
    menus = page.locator("[class*='st-key-'][class*='-save-menu']:visible")
    menus.first.wait_for(timeout=120_000)
    expect(page.locator("[class*='st-key-live-']")).to_have_count(0, timeout=60_000)
    answered(page)
    names = [re.search(r"st-key-(\S+)-save-menu", menus.nth(n).get_attribute("class"))[1] for n in range(menus.count())]
    number = names.index(HEAD) if HEAD in names else 0
    open_menu(menus.nth(number).locator("button").first)
    page.locator("button[data-kind=svg]").wait_for(timeout=60_000)
    return names[number]


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
    assert packed.search(one), "a file without numbers has no excuse to differ"
    return packed.sub(r"\1", one) == packed.sub(r"\1", other)


@pytest.mark.parametrize("link, key", PICTURES)
def test_a_picture_on_show_is_saved_byte_for_byte_as_the_command_writes_it(link, key, server_url, new_page):
    page = new_page(locale="en", reduced_motion="reduce")
    page.goto(f"{server_url}/{link}")
    menu_key, choice = WITHIN.get(key, (key, ""))
    menu = page.locator(f".st-key-{menu_key}-save-menu button").first
    menu.wait_for(timeout=120_000)
    answered(page)
    open_menu(menu)
    if choice:
        page.get_by_role("radio", name=choice, exact=True).click()
        page.locator(f".st-key-{key}-files").wait_for()
    figure, button = run_page(app_link(link), key).figure, page.locator("button[data-kind=svg]")
    mine = figure_file(figure, "svg", FileRequest()).decode()
    assert saved_bytes(page, button).decode() == mine
    assert "Made with attnviz" in mine
    expect(page.get_by_text("is in your downloads.")).to_be_visible()
    press_in_menu(page.get_by_label("Credit line"))
    expect(page.get_by_label("Credit line")).not_to_be_checked()
    assert saved_bytes(page, button).decode() == figure_file(figure, "svg", FileRequest(credit="")).decode()
    assert page.locator("button[data-kind=film]").is_visible() == (figure.fig.film is not None)


@pytest.mark.parametrize("link", LINKS)
def test_the_command_s_files_are_those_that_the_page_saves(link, server_url, new_page):
    page = new_page(locale="en", reduced_motion="reduce")  # no film is on its way while it is saved
    key = opened_menu(page, f"{server_url}/{link}")
    figure = run_page(app_link(link), key).figure
    looks = FileRequest()

    theirs = saved_bytes(page, page.locator("button[data-kind=svg]")).decode()
    mine = figure_file(figure, "svg", looks).decode()
    assert steady(mine) == steady(theirs)
    assert len(mine) > 1_000
    for kind, label in (("csv", "CSV, the numbers"), ("html", re.compile("HTML"))):
        button = page.get_by_role("button", name=label)
        if button.count():
            mine, theirs = figure_file(figure, kind, looks).decode(), saved_bytes(page, button.first).decode()
            assert mine == theirs or (same_table if kind == "csv" else same_document)(mine, theirs)
    if link in LINKS[:2]:
        pictures = figure_file(figure, "png", looks), saved_bytes(page, page.locator("button[data-kind=png]"))
        a, b = (np.asarray(Image.open(io.BytesIO(each)).convert("RGB"), np.float64) for each in pictures)
        assert a.shape == b.shape
        assert np.abs(a - b).mean() < 4, "of 255; letters are smoothed in two ways"
        least = 10 if link == LINKS[0] else 30  # a blank picture has 0; ribbons leave most of theirs white
        assert np.abs(a - 255).mean() > least, "something is drawn"


def test_without_a_name_a_link_gives_the_figure_that_it_is_about(server_url):
    answer = run_page(app_link("explore?at=13.8"), "")
    assert answer.figure is not None
    assert answer.figure.file_name == "attention-smollm2-135m-layer13-head8"
    assert run_page(app_link("explore?at=13.8")).names[0] == "attention-all-heads-smollm2-135m"
