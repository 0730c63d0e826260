"""The picture of every page and section begins on the first screen, above what changes it."""

import pytest

from attnviz.app.links.choices import choices_of
from attnviz.serve.page_table import PAGES
from tests.browser.conftest import at_rest

PICTURE = ".st-key-canvas-of-heads, [data-main-picture], .st-key-main-picture"  # Explore's: all heads and one
#: choices of a page's section
SECTIONS = ("s_section", "p_section", "c_section", "d_view", "h_view")
#: pages of words; and sections that are a table, a list of traps, or begin with a press of a button
OF_WORDS = {"glossary", "lessons", "compare?c_section=uses", "decoding?d_view=traps"}
OF_WORDS |= {"sharing?h_view=prove", "sharing?h_view=published"}


def addresses() -> list[str]:
    """Every page, and every section of those that have sections."""
    all_of_them = []
    for row in PAGES:
        sections = [each for each in choices_of(row.name) if each.name in SECTIONS]
        name = "" if row.is_home else row.name
        all_of_them += [f"{name}?{each.name}={id}" for each in sections for id in each.ids] or [name]
    return [address for address in all_of_them if address not in OF_WORDS]


def test_there_is_a_page_with_sections_and_one_without() -> None:
    assert {"scaling?s_section=variance", "masks", ""} <= set(addresses())
    assert len(addresses()) >= 28


@pytest.mark.slow
@pytest.mark.parametrize("width, height, lowest", [(1280, 720, 300), (1440, 900, 300), (390, 844, 420)])
def test_the_picture_begins_high_and_half_of_it_is_seen(opened, server_url, width, height, lowest):
    found = {}
    page = opened("", width=width, height=height)
    for address in addresses():
        page.goto(f"{server_url}/{address}")
        at_rest(page, PICTURE)
        place = page.locator(PICTURE).first.bounding_box()
        seen = min(height, place["y"] + place["height"]) - place["y"]
        later = LATER.get((address, width))
        if place["y"] > (later or lowest) or (later is None and seen < min(place["height"], height) / 2):
            found[address] = (round(place["y"]), round(place["height"]))
    assert not found


#: where a phone shows the sentence and its model before: what one changes there first
LATER = {("sharing?h_view=see", 390): 440}
