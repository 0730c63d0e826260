"""The picture of every page and section begins on the first screen, above what changes it; presented, it fills it."""

import pytest
from playwright.sync_api import expect

from attnviz.app.links.choices import choices_of
from attnviz.serve.page_table import PAGES
from tests.browser.conftest import another_view, at_rest, resized, still, until

PICTURE = ".st-key-canvas-of-heads, [data-main-picture], .st-key-main-picture"  # Explore's: all heads and one
#: choices of a page's section
SECTIONS = ("s_section", "p_section", "c_section", "d_view", "h_view", "why_section", "fast_section", "born_section")
#: pages of words, and sections that are a table or a list of traps
OF_WORDS = {"glossary", "lessons", "compare?c_section=uses", "fast?fast_section=traps"}


def addresses() -> dict[str, list[str]]:
    """Every page, and every section of those that have sections, by the page's name."""
    found = {}
    for row in PAGES:
        sections = [each for each in choices_of(row.name) if each.name in SECTIONS]
        name = "" if row.is_home else row.name
        views = [f"{name}?{each.name}={id}" for each in sections for id in each.ids] or [name]
        found[row.name] = [view for view in views if view not in OF_WORDS]
    return {name: views for name, views in found.items() if views}


def test_there_is_a_page_with_sections_and_one_without() -> None:
    all_of_them = [address for views in addresses().values() for address in views]
    assert {"scaling?s_section=variance", "masks", ""} <= set(all_of_them)
    assert len(all_of_them) >= 28


#: the window, and how far down the picture may begin
WINDOWS = {(1280, 720): 300, (1440, 900): 300, (390, 844): 420}


PROJECTOR = (1280, 720)
BAR = "[role=toolbar][aria-label=Presentation]"
#: Of a presented page: what of the main picture lies under the bar or beside the window, and whether anything above it
#: What of the main picture lies under the bar, beside the window or over words, and whether it is half scrolled out.
OUT_OF_ROOM = """() => {
  const main = document.querySelector(".st-key-main-picture").getBoundingClientRect();
  const bar = document.querySelector(".st-key-presenter").getBoundingClientRect().top;
  const charts = [...document.querySelectorAll(".st-key-main-picture .js-plotly-plot")];
  const low = charts.map((chart) => chart.getBoundingClientRect()).filter(({ bottom }) => bottom > bar);
  const small = charts.filter((chart) => chart.getBoundingClientRect().height < 150);
  const words = [...document.querySelectorAll(".st-key-main-picture [data-testid=stMarkdownContainer]")];
  const under = words.map((each) => each.getBoundingClientRect()).filter((word) =>
    charts.map((chart) => chart.getBoundingClientRect()).some((chart) =>
      Math.min(chart.right, word.right) - Math.max(chart.left, word.left) > 4 &&
      Math.min(chart.bottom, word.bottom) - Math.max(chart.top, word.top) > 4));
  const drawn = [...document.querySelectorAll(".st-key-main-picture .stBidiComponent")];
  const boxes = drawn.map((each) => each.getBoundingClientRect());
  const across = boxes.filter(({ top, bottom }) => top < bar && bottom > bar + 2);
  return [main.top < 0 || main.top > 20, main.bottom < bar - 30, low.length, small.length, under.length, across.length];
}"""


def fills_the_room(page):
    """Presented, the main picture begins at the top of the room, and its charts end above the bar."""
    page.keyboard.press("p")
    expect(page.locator(BAR)).to_be_visible()
    page.locator(".st-key-main-picture").first.wait_for()  # the one of the section before may still stand
    still(page)
    until(lambda: page.evaluate(OUT_OF_ROOM) == [False, False, 0, 0, 0, 0])
    page.keyboard.press("Escape")
    expect(page.locator(BAR)).to_be_hidden()
    still(page)


@pytest.mark.parametrize("name", addresses())
def test_the_picture_begins_high_half_of_it_is_seen_and_presented_it_fills_the_room(new_page, server_url, name):
    found = {}
    sizes = list(WINDOWS)
    page = new_page(*sizes[0])
    for address in addresses()[name]:
        go_to = another_view if page.url.startswith(server_url) else type(page).goto
        go_to(page, f"{server_url}/{address}")
        at_rest(page, PICTURE)
        for width, height in sizes:
            resized(page, width, height)
            place = page.locator(PICTURE).first.bounding_box()
            seen = min(height, place["y"] + place["height"]) - place["y"]
            if place["y"] > WINDOWS[width, height] or seen < min(place["height"], height) / 2:
                found[address, width] = (round(place["y"]), round(place["height"]))
            if (width, height) == PROJECTOR:
                fills_the_room(page)
        sizes.reverse()  # the next one opens in the window as it is now
    assert not found
