"""The film of tiles in a browser: played, dragged, moved by keys, opened again by its link, saved; a lesson's film."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import expect

from attnviz.pages.fast.maths import tiles
from tests.browser.conftest import answered, at_rest, until
from tests.browser.saving import open_menu, saved
from tests.svg_reading import texts

FILM = ".tf-matrix"


def stood(page):
    """The step on show, from 0."""
    return int(page.locator(".av-root[data-step]").first.get_attribute("data-step"))  # one that goes may still be there


@pytest.mark.every_commit
def test_a_film_is_stepped_dragged_and_comes_back_by_its_link(opened):
    page = opened("fast", FILM)
    film = tiles.run(tiles.Config())
    assert stood(page) == film.middle_step
    page.get_by_role("button", name="Next tile").click()
    page.wait_for_url(f"**fast_at={film.middle_step + 1}*")
    answered(page)
    box = page.locator(FILM).bounding_box()
    x, y = box["x"] + 4, box["y"] + 4  # the first tile
    page.mouse.move(x, y)
    page.mouse.down()
    until(lambda: stood(page) == 0)
    page.mouse.move(x, y + box["height"] * 5 / 6, steps=5)
    until(lambda: stood(page) == 15)  # the last row of tiles
    assert "fast_at=0" not in page.url, "only letting go was sent"
    page.mouse.up()
    page.wait_for_url("**fast_at=15*")
    answered(page)
    page.reload()
    at_rest(page, FILM)
    until(lambda: stood(page) == 15)
    expect(page.locator(".tf-said")).to_have_text("Tile 16 of 21: queries 81 to 96, keys 1 to 16")


def test_what_lies_in_fast_memory_is_what_python_counts_and_a_file_says_it_too(opened):
    page = opened("fast?fast_pass=backward&fast_at=5", FILM)
    heard = page.locator(".tf-stage canvas[role=img]").get_attribute("aria-label")
    said = heard[heard.index("Fast memory") :]
    assert said.startswith("Fast memory: 30.13 KiB; "), "7 blocks of 16 × 64, 2 tiles of 16 × 16 and 2 × 16: 30,848 B"
    expect(page.locator(".tf-readout")).to_contain_text("Key")
    open_menu(page.locator(".st-key-fast-film-save-save-menu button").first)
    svg = Path(saved(page, page.locator("button[data-kind=svg]")).path()).read_text("utf-8")
    file = texts(ElementTree.fromstring(svg))
    assert "Tile 6 of 21: queries 81 to 96, keys 1 to 16" in file
    assert len(said.split("; ")) == 3 + len(tiles.BACKWARD) + len(tiles.SLOW_BACKWARD), "and what is never built"
    assert {"Fast memory: 30.13 KiB", "Slow memory", "never built: 36 KiB"} <= set(file)
    *parts, _matrix = (re.match(r"(\w+) [\d,]+ × [\d,]+, (.*)", part) for part in said.split("; "))
    for part in parts[1 : 1 + len(tiles.BACKWARD)]:
        summand = f"{part[1]} {part[2]}".replace(" ", "\u00a0")
        assert any(summand in text for text in file), "fast memory is the sum of its parts"
