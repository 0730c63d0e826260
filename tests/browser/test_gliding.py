"""What a visitor changes glides to what it becomes, and stands there at once where less motion is asked for."""

import pytest

from tests.browser.canvas_places import mask_door, tile
from tests.browser.conftest import still, until

STAGE = "[data-testid=heatmap]"
TEXT = "explore?text=An+unbelievably+heartwarming+neighbourhood"
#: Every picture of a canvas from now on, one after the other: rows and columns that move have more pixels.
FILMED = """canvas => {
    window.filmed = [canvas.toDataURL()];
    const step = () => {
        const picture = canvas.toDataURL();
        if (picture !== window.filmed.at(-1)) window.filmed.push(picture);
        window.filming = requestAnimationFrame(step);
    };
    step();
}"""

#: As Back does: the page stays.
VIEW = "address => { history.pushState({}, '', address); dispatchEvent(new PopStateEvent('popstate', {state: {}})) }"


def glides(page, canvas, change):
    """Whether a canvas shows something on the way between what it shows before a change and after it."""
    still(page)
    canvas.scroll_into_view_if_needed()
    still(page)
    canvas.evaluate(FILMED)
    change()
    until(lambda: len(page.evaluate("filmed")) > 1)
    still(page)
    first, *between, last = page.evaluate("() => { cancelAnimationFrame(filming); return filmed }")
    assert first != last
    return bool(set(between) - {first, last})


@pytest.mark.parametrize(
    "view, drawn, change",
    [
        ("masks?", ".av-mask canvas", "m_rule1=window"),
        ("scaling?s_section=alternatives", ".ss-canvas", "s_seed=3"),
        ("sharing?", "canvas[role=img]", "h_columns=gpt2"),
        ("decoding?d_view=bytes", ".cg-bars", "d_grown=5"),
        (TEXT, STAGE, ""),
    ],
)
def test_what_changes_glides_there_and_stands_there_at_once_for_who_asked_for_less_motion(
    opened, server_url, view, drawn, change
):
    page = opened(view, drawn)

    def goes(more):
        return lambda: page.evaluate(VIEW, f"{server_url}/{view}{more and '&' + more}")

    def masks(name):
        return lambda: mask_door(page).get_by_test_id("mask").select_option(name)

    turns, canvas = [goes(change), goes("")], page.locator(drawn).first
    if drawn == STAGE:  # another head, another mask, and words joined
        turns = [lambda: page.mouse.click(*tile(page, 7)), masks("none"), masks("model"), goes("units=words"), goes("")]
        canvas = canvas.locator("canvas").first
    for less in (False, True):
        page.emulate_media(reduced_motion="reduce" if less else "no-preference")
        for turn in turns:
            assert glides(page, canvas, turn) != less
