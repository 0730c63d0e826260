"""What a visitor changes glides to what it becomes, and stands there at once where less motion is asked for."""

import pytest

from tests.browser.canvas_places import mask_door, tile, weights
from tests.browser.conftest import at_rest, still, until

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


@pytest.fixture(params=[False, True], ids=["moving", "still"])
def less(request):
    """What a visitor asked the system for."""
    return {"reduced_motion": "reduce"} if request.param else {}


def test_another_head_another_mask_and_words_joined_glide_there(opened, server_url, less):
    page = opened(TEXT, STAGE, **less)
    cells = page.get_by_test_id("heatmap").first.locator("canvas").first
    pieces = len(weights(page))
    for change in (
        lambda: page.mouse.click(*tile(page, 7)),
        lambda: mask_door(page).get_by_test_id("mask").select_option("none"),
        lambda: mask_door(page).get_by_test_id("mask").select_option("model"),
        lambda: page.evaluate(VIEW, f"{server_url}/{TEXT}&units=words"),
        lambda: page.evaluate(VIEW, f"{server_url}/{TEXT}"),
    ):
        assert glides(page, cells, change) != bool(less)
    assert len(weights(page)) == pieces


@pytest.mark.parametrize(
    "view, drawn, change",
    [
        ("masks?", ".av-mask canvas", "m_rule1=window"),
        ("scaling?s_section=alternatives", ".ss-canvas", "s_seed=3"),
        ("sharing?", "canvas[role=img]", "h_columns=gpt2"),
        ("decoding?d_view=bytes", ".cg-bars", "d_grown=5"),
    ],
)
def test_mask_cells_bars_and_heads_that_share_glide_there(opened, server_url, less, view, drawn, change):
    page = opened(view, drawn, **less)
    at_rest(page, drawn)
    other = f"{server_url}/{view}&{change}"
    assert glides(page, page.locator(drawn).first, lambda: page.evaluate(VIEW, other)) != bool(less)
