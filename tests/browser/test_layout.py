"""Where things stand on a page: level, whole, and where one looks for them. At a projector's size and on a phone.

What holds for every page, test_every_view.py asks of every view.
"""

import pytest

from tests.browser.canvas_places import finger
from tests.browser.conftest import answered, still, until
from tests.browser.layout_faults import layout_faults

PROJECTOR = {"width": 1280, "height": 720, "reduced_motion": "reduce"}
PHONE = {"width": 390, "height": 844, "has_touch": True, "is_mobile": True, "reduced_motion": "reduce"}


def boxes(page, selector):
    return [box for each in page.locator(selector).all() if (box := each.bounding_box())]


def test_a_projector_shows_the_sentences_beside_the_title_and_charts_in_their_places(opened):
    page = opened("sharing", ".st-key-canvas-of-h-three canvas", ".st-key-h-pairs .main-svg", **PROJECTOR)
    still(page)
    heading = ".st-key-page-heading h1", ".st-key-page-heading > .stElementContainer > .stMarkdown", ".st-key-present"
    title, about, buttons = (page.locator(part).bounding_box() for part in heading)
    assert title["x"] + title["width"] < about["x"]
    assert about["x"] + about["width"] < buttons["x"]
    wide = "all => all.filter(c => c.scrollWidth > c.clientWidth + 1).map(c => [c.clientWidth, c.scrollWidth])"
    assert page.locator(".stPlotlyChart").evaluate_all(wide) == []
    chart, names = page.locator(".st-key-h-pairs .nsewdrag").bounding_box(), boxes(page, ".st-key-h-pairs .annotation")
    assert chart["x"] <= min(name["x"] for name in names)
    assert max(name["x"] + name["width"] for name in names) <= chart["x"] + chart["width"]
    rows = [round(name["y"]) for name in names]
    assert min(rows.count(y) for y in rows) > 1, "no head stands alone in a row"
    page.set_viewport_size({"width": 1440, "height": 900})
    until(
        lambda: (
            page.locator(".st-key-page-heading > .stElementContainer > .stMarkdown").bounding_box()["y"]
            > title["y"] + title["height"]
        )
    )


#: Numbers that are broken into lines, and tables that hide a column until they are scrolled.
NOT_WHOLE = """() => {
    const lines = (one) => {
        const range = document.createRange();
        range.selectNodeContents(one);
        return new Set([...range.getClientRects()].filter(({width}) => width > 1).map(({top}) => Math.round(top))).size;
    };
    return [...[...document.querySelectorAll("[data-testid=stMetricValue]")].filter((one) => lines(one) > 1),
        ...[...document.querySelectorAll(".dvn-scroller, [data-testid=stTable] :has(> table)")]
            .filter((one) => one.scrollWidth > one.clientWidth + 1)]
        .map((one) => one.innerText || `${one.scrollWidth} of ${one.clientWidth}`);
}"""


@pytest.mark.parametrize(
    "view, drawn", [("scaling", ".katex"), ("heads", ".hm-stage[data-tiles]"), ("masks", ".av-mask canvas")]
)
def test_numbers_formulas_and_tables_are_whole_beside_a_picture(opened, view, drawn):
    page = opened(view, drawn, width=1024, height=768, reduced_motion="reduce")  # the narrowest with both in a row
    still(page)
    assert page.evaluate(NOT_WHOLE) == []
    assert layout_faults(page) == []
    legends = page.locator(".av-bar-row").evaluate_all("all => all.map((one) => one.scrollWidth - one.clientWidth)")
    assert all(beyond <= 0 for beyond in legends)


def test_a_finger_that_moves_down_over_a_mask_scrolls_the_page_and_paints_nothing(opened):
    page = opened("masks", ".av-mask canvas", **PHONE)
    board = page.locator(".av-mask canvas").first
    board.scroll_into_view_if_needed()
    said = page.locator(".av-mask-count").first.inner_text()
    before = page.locator("[data-testid=stMain]").evaluate("main => main.scrollTop")
    place = board.bounding_box()
    x, y = place["x"] + place["width"] * 0.75, place["y"] + place["height"] * 0.7
    finger(page, *((x, y - 10 * step) for step in range(17)))
    until(lambda: page.locator("[data-testid=stMain]").evaluate("main => main.scrollTop") > before + 80)
    answered(page)
    assert page.locator(".av-mask-count").first.inner_text() == said
    assert "m_paint" not in page.url


def test_a_wide_screen_is_used_for_a_larger_picture_with_the_answer_beside_it(opened):
    page = opened("pictures", ".pv-tile[aria-pressed=true]", **PROJECTOR)
    small = page.locator(".pv-large").bounding_box()
    page.set_viewport_size({"width": 1920, "height": 1080})
    large, answer = page.locator(".pv-large"), page.locator(".pv-answer")
    until(lambda: large.bounding_box()["width"] > 1.3 * small["width"])
    picture, beside, whole = (each.bounding_box() for each in (large, answer, page.locator(".st-key-patches")))
    assert beside["x"] > picture["x"] + picture["width"]
    assert picture["y"] + picture["height"] < 1080
    for one in boxes(page, ".pv-words button"):
        assert one["x"] + one["width"] <= whole["x"] + whole["width"] + 1
