"""The picture of every page and section begins on the first screen, above what changes it."""

import pytest

from attnviz.app.links.choices import choices_of
from attnviz.serve.page_table import PAGES
from tests.browser.conftest import at_rest, resized

PICTURE = ".st-key-canvas-of-heads, [data-main-picture], .st-key-main-picture"  # Explore's: all heads and one
#: choices of a page's section
SECTIONS = ("s_section", "p_section", "c_section", "d_view", "h_view", "why_section")
#: pages of words; and sections that are a table, a list of traps, or begin with a press of a button
OF_WORDS = {"glossary", "lessons", "compare?c_section=uses"}
OF_WORDS |= {"sharing?h_view=prove", "sharing?h_view=published"}


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


@pytest.mark.parametrize("name", addresses())
def test_the_picture_begins_high_and_half_of_it_is_seen(new_page, server_url, name):
    found = {}
    sizes = list(WINDOWS)
    page = new_page(*sizes[0])
    for address in addresses()[name]:
        page.goto(f"{server_url}/{address}")
        at_rest(page, PICTURE)
        for width, height in sizes:
            resized(page, width, height)
            place = page.locator(PICTURE).first.bounding_box()
            seen = min(height, place["y"] + place["height"]) - place["y"]
            if place["y"] > WINDOWS[width, height] or seen < min(place["height"], height) / 2:
                found[address, width] = (round(place["y"]), round(place["height"]))
        sizes.reverse()  # the next one opens in the window as it is now
    assert not found
