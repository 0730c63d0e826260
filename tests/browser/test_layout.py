"""Where things stand on a page: level, whole, and where one looks for them. At a projector's size and on a phone."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import expect

from attnviz.pages.scaling.maths.alternatives import CHOICES
from tests.browser.conftest import answered, listening, until
from tests.browser.every_view import GROUND, STILL
from tests.browser.layout_faults import layout_faults

Open = Callable[..., Any]

PROJECTOR = {"width": 1280, "height": 720}
PHONE = {"width": 390, "height": 844, "has_touch": True, "is_mobile": True}


@pytest.fixture
def opened(server_url: str, new_page: Open) -> Open:
    """`opened("build?b_step=scores", **size)`: the page, drawn."""

    def open_it(address: str, **size: Any) -> Any:
        page = new_page(**size)
        page.goto(f"{server_url}/{address}")
        page.locator("[data-testid=stMain] h1").first.wait_for(timeout=60_000)
        listening(page)
        answered(page)
        page.wait_for_function("!document.querySelector('[data-testid=stSkeleton]')", timeout=60_000)
        return page

    return open_it


def boxes(page: Any, selector: str) -> list[dict[str, float]]:
    return [box for each in page.locator(selector).all() if (box := each.bounding_box())]


#: The picture that each page is about, and how far down it may begin on a projector, in pixels; None: it may anywhere.
PICTURES = {
    "positions": (".st-key-p_order_before .nsewdrag", 580),
    "decoding": (".st-key-canvas-of-steps", 480),
    "sharing": (".st-key-h-three-0", 520),
    "masks": (".st-key-m-grid", 520),
}


PLACES = "", "build", "scaling", "masks", "sharing", "sharing?h_view=size", "sharing?h_view=count", *PICTURES


@pytest.mark.parametrize("address", dict.fromkeys(PLACES))
def test_a_page_is_level_and_whole_on_a_projector_and_on_a_phone(opened: Open, address: str) -> None:
    page = opened(address, **PROJECTOR)
    exports_end_their_lines(page)
    buttons_are_whole(page)
    if address == "build":
        controls_are_level(page)
        assert page.locator(".ts-strip").evaluate("row => row.scrollWidth <= row.clientWidth"), "every step is seen"
    if address == "sharing":
        charts_fit_their_places(page)
    if address in PICTURES:
        picture_begins_high(page, *PICTURES[address])
    resized(page, PHONE["width"], PHONE["height"])
    buttons_are_whole(page)


def test_the_controls_of_a_row_are_level_in_chinese(opened: Open) -> None:
    controls_are_level(opened("build", locale="zh-CN", **PROJECTOR))


def controls_are_level(page: Any) -> None:
    fields = "stTextInput", "stButtonGroup", "stSelectbox"
    row = [box for name in fields for box in boxes(page, f".st-key-build-controls [data-testid={name}]")]
    assert len(row) == 5
    assert max(box["y"] for box in row) - min(box["y"] for box in row) < 1
    assert max(box["height"] for box in row) - min(box["height"] for box in row) < 1
    [more] = boxes(page, ".st-key-build-controls [data-testid=stPopover]")
    assert abs(more["y"] + more["height"] - row[0]["y"] - row[0]["height"]) < 1, "“More” stands in the same line"


def exports_end_their_lines(page: Any) -> None:
    """Where an export does not stand at the end of its line, it begins one."""
    lines = page.locator('.stHorizontalBlock[class*="-under"]').all()
    assert lines
    for line in lines:
        whole = line.bounding_box()
        exports = boxes(line, "[data-testid=stPopover]")
        first, last = exports[0], exports[-1]
        at_the_end = abs(last["x"] + last["width"] - whole["x"] - whole["width"]) < 2
        assert at_the_end or abs(first["x"] - whole["x"]) < 2
        for one, next_one in pairwise(exports):
            assert 0 < next_one["x"] - one["x"] - one["width"] < 40, "two exports stand beside each other"


def picture_begins_high(page: Any, picture: str, highest: int) -> None:
    """On a projector the sentences stand beside the title, on a wider screen below it."""
    drawn = page.locator(picture).first
    drawn.wait_for()
    until(lambda: drawn.bounding_box()["y"] < highest)
    title, about = (
        page.locator(".st-key-page-heading h1").bounding_box(),
        page.locator(".st-key-page-about").bounding_box(),
    )
    buttons = page.locator(".st-key-present").bounding_box()
    assert title["x"] + title["width"] < about["x"]
    assert about["x"] + about["width"] < buttons["x"]
    page.set_viewport_size({"width": 1440, "height": 900})
    until(lambda: page.locator(".st-key-page-about").bounding_box()["y"] > title["y"] + title["height"])


def buttons_are_whole(page: Any) -> None:
    buttons = page.locator("[data-testid=stButtonGroup] button")
    assert buttons.count()
    cut = "all => all.filter(b => b.scrollWidth > b.clientWidth + 1).map(b => b.innerText)"
    assert buttons.evaluate_all(cut) == []
    edge = "b.closest('[data-testid=stColumn], body').getBoundingClientRect().right + 1"
    out = f"all => all.filter(b => b.getBoundingClientRect().right > {edge}).map(b => b.innerText)"
    assert buttons.evaluate_all(out) == [], "a button that leaves its column is cut there"
    square = "all => all.filter(b => parseFloat(getComputedStyle(b).borderTopRightRadius) < 4).map(b => b.innerText)"
    assert buttons.evaluate_all(square) == [], "a row that wraps has round corners all the same"
    bare = """all => all.filter(button => {
        const { borderLeftColor, borderRightColor } = getComputedStyle(button);
        return [borderLeftColor, borderRightColor].some(colour => colour.endsWith(", 0)"));
    }).map(button => button.innerText)"""
    assert buttons.evaluate_all(bare) == [], "a button beside the chosen one has all four sides"


def charts_fit_their_places(page: Any) -> None:
    page.locator(".st-key-h-pair-0 .main-svg").first.wait_for()
    wide = "all => all.filter(c => c.scrollWidth > c.clientWidth + 1).map(c => [c.clientWidth, c.scrollWidth])"
    assert page.locator(".stPlotlyChart").evaluate_all(wide) == []
    name, chart = (
        page.locator(f".st-key-h-pair-0 {part}").first.bounding_box() for part in (".annotation", ".nsewdrag")
    )
    assert abs(name["x"] + name["width"] / 2 - chart["x"] - chart["width"] / 2) < 2, "the name is over the picture"
    assert name["y"] + name["height"] <= chart["y"] + 2
    rows = [box["y"] for box in boxes(page, "[class*=st-key-h-pair-]")]
    assert min(rows.count(y) for y in rows) > 1, "no head stands alone in a row"


@pytest.mark.parametrize("way", CHOICES)
def test_every_formula_is_seen_whole_at_a_projectors_size(opened: Open, way: str) -> None:
    page = opened(f"scaling?s_section=saturation&s_beside={way}&s_dk=4096", **PROJECTOR)
    page.locator(".katex-display").nth(2).wait_for()
    assert layout_faults(page) == []


@pytest.mark.parametrize("step", ["embed", "scores", "softmax", "output", "norm"])
def test_the_chosen_step_is_seen_whole_on_a_phone(opened: Open, step: str) -> None:
    page = opened(f"build?b_step={step}", **PHONE)
    chip, row = (page.locator(part).bounding_box() for part in (".ts-chip[aria-selected=true]", ".ts-strip"))
    assert row["x"] <= chip["x"]
    assert chip["x"] + chip["width"] <= row["x"] + row["width"]


def test_a_matrix_is_chosen_over_a_table_on_a_phone(opened: Open) -> None:
    page = opened("build", **PHONE)
    table = page.locator(".st-key-b-weights [data-testid=stDataFrame]").first
    table.scroll_into_view_if_needed()
    table.tap()
    page.locator(".st-key-b-weights").get_by_role("radio").last.tap()
    page.wait_for_url("**b_matrix=W_O*")


def test_a_finger_that_moves_down_over_a_mask_scrolls_the_page_and_paints_nothing(opened: Open) -> None:
    page = opened("masks", **PHONE)
    board = page.locator(".av-mask canvas").first
    board.scroll_into_view_if_needed()
    said = page.locator(".av-mask-count").first.inner_text()
    before = page.locator("[data-testid=stMain]").evaluate("main => main.scrollTop")
    place = board.bounding_box()
    x, y = place["x"] + place["width"] * 0.75, place["y"] + place["height"] * 0.7
    cdp = page.context.new_cdp_session(page)
    cdp.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for step in range(1, 17):
        cdp.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [{"x": x, "y": y - 10 * step}]})
    cdp.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    until(lambda: page.locator("[data-testid=stMain]").evaluate("main => main.scrollTop") > before + 80)
    answered(page)
    assert page.locator(".av-mask-count").first.inner_text() == said
    assert "m_paint" not in page.url


def test_help_with_a_switch_is_read_without_turning_it(opened: Open) -> None:
    page = opened("build?b_dropout=0.5", **PHONE)
    page.get_by_role("button", name="More").tap()
    said = page.get_by_text("Dropout acts only in training mode.")
    said.tap()
    expect(page.get_by_role("switch", name="Training mode").or_(page.get_by_label("Training mode"))).not_to_be_checked()


def test_the_export_of_start_opens_to_a_menu_that_can_be_read(opened: Open) -> None:
    page = opened("", **PROJECTOR)
    page.get_by_role("button", name="Export").first.click()
    body = page.locator("[data-testid=stPopoverBody]")
    body.get_by_text("Background").wait_for()

    def inside_the_window() -> bool:  # it opens by growing
        place = body.bounding_box()
        return bool(place["height"] > 300 and place["y"] >= 0 and place["y"] + place["height"] <= 720)

    until(inside_the_window)


@pytest.mark.parametrize("address, picture", [("heads", ".st-key-hd_map .nsewdrag"), ("sharing", ".st-key-h-three-0")])
def test_a_picture_begins_on_the_first_screen_of_a_phone(opened: Open, address: str, picture: str) -> None:
    page = opened(address, **PHONE)
    drawn = page.locator(picture).first
    drawn.wait_for()
    assert drawn.bounding_box()["y"] < PHONE["height"] - 20
    terms = page.locator(".st-key-page-terms [class*=st-key-terms-]").first
    last = terms.get_by_role("button").last
    last.scroll_into_view_if_needed()
    last.tap()
    expect(page.locator("[data-testid=stPopoverBody]").get_by_text("sentences in a batch")).to_be_visible()


@pytest.mark.parametrize(
    "address, picture", [("positions", ".st-key-p_order_before .nsewdrag"), ("decoding", ".sp-tape")]
)
@pytest.mark.parametrize("language", ["en-GB", "zh-CN"])
def test_a_phone_shows_a_picture_before_what_is_chosen_seldom(
    opened: Open, address: str, picture: str, language: str
) -> None:
    page = opened(address, locale=language, **PHONE)
    drawn = page.locator(picture).first
    drawn.wait_for()
    until(lambda: drawn.bounding_box()["y"] < PHONE["height"] - 20)
    more = page.locator(".stMain").get_by_role("button").filter(has_text="tune").bounding_box()
    assert more["x"] + more["width"] <= PHONE["width"], "what is chosen seldom is one touch away"


def resized(page: Any, width: int, height: int) -> None:
    """Make the window so large, and wait until nothing moves."""
    page.set_viewport_size({"width": width, "height": height})
    page.evaluate(STILL, GROUND["light"])


def test_a_wide_screen_is_used_for_two_terms_in_a_line(opened: Open) -> None:
    page, term = opened("glossary", **PROJECTOR), ".st-key-terms-of-glossary > * > [class*=st-key-glossary-]"
    assert len({box["x"] for box in boxes(page, term)}) == 1
    for size in ((1440, 900), (1920, 1080)):
        resized(page, *size)
        first, second, third = boxes(page, term)[:3]
        assert first["y"] == second["y"]
        assert second["x"] > first["x"] + first["width"], "two stand beside each other"
        assert third["x"] == first["x"]
        assert third["y"] > first["y"]
        assert abs(first["width"] - second["width"]) < 1
        assert first["height"] == second["height"]


def test_the_first_step_of_all_fills_the_window_and_is_seen_whole(opened: Open) -> None:
    page = opened("lessons?lesson=attention&step=1", **PROJECTOR)
    last = page.locator(".st-key-l-vectors tr").last
    last.wait_for()
    for (width, height), numbers in (((1280, 720), 6), ((1440, 900), 8), ((1920, 1080), 12)):
        resized(page, width, height)
        row, column = last.bounding_box(), page.locator(".st-key-l-vectors").bounding_box()
        assert abs(row["x"] + row["width"] - column["x"] - column["width"]) < 2
        assert 0.8 * height < row["y"] + row["height"] < height
        shown = [cell for cell in last.locator("td").all() if cell.is_visible()]
        assert len(shown) == 2 + numbers + 1, "place, token, as many numbers as there is room for, and dots"
        assert all(box["x"] + box["width"] <= column["x"] + column["width"] + 1 for box in boxes(last, "td:visible"))


@pytest.mark.parametrize("language", ["en-GB", "zh-CN"])
def test_the_first_step_s_table_is_seen_whole_on_a_phone(opened: Open, language: str) -> None:
    page = opened("lessons?lesson=attention&step=1", locale=language, **PHONE)
    place, table = (page.locator(f".st-key-l-vectors{part}").first for part in ("", " table"))
    table.wait_for()
    assert table.bounding_box()["width"] <= place.bounding_box()["width"] + 1


def test_a_wide_screen_is_used_for_a_larger_picture_with_its_words_beside_it(opened: Open) -> None:
    page = opened("pictures", **PROJECTOR)
    page.locator(".pv-tile[aria-pressed=true]").wait_for()
    small, words = page.locator(".pv-large").bounding_box(), page.locator(".pv-words").bounding_box()
    assert words["y"] >= small["y"] + small["height"]
    page.set_viewport_size({"width": 1920, "height": 1080})
    large, words = page.locator(".pv-large"), page.locator(".pv-words")
    until(lambda: large.bounding_box()["width"] > 1.3 * small["width"])
    picture, beside, whole = (each.bounding_box() for each in (large, words, page.locator(".st-key-patches")))
    assert beside["x"] > picture["x"] + picture["width"]
    assert abs(beside["x"] + beside["width"] - whole["x"] - whole["width"]) < 2, "up to the right edge"
    assert picture["y"] + picture["height"] < 1080
    for one in boxes(page, ".pv-words button"):
        assert one["x"] + one["width"] <= whole["x"] + whole["width"] + 1


@pytest.mark.parametrize("step", ["embed", "project", "scores", "norm"])
def test_the_matrices_of_a_step_grow_with_a_wide_screen_and_stay_in_one_line(opened: Open, step: str) -> None:
    cell, sheets = ".tb-table tbody td", ".tb-sheet"
    page = opened(f"build?b_step={step}", **PROJECTOR)
    small = boxes(page, cell)[0]
    page.set_viewport_size({"width": 1920, "height": 1080})
    until(lambda: boxes(page, cell)[0]["width"] > 1.3 * small["width"])
    until(lambda: boxes(page, cell)[0]["height"] > 1.3 * small["height"])
    middles = [box["y"] + box["height"] / 2 for box in boxes(page, sheets)]
    assert max(middles) - min(middles) < 2, "none of them has slipped into the next line"


@pytest.mark.parametrize("step", [1, 2, 5])
def test_the_matrices_of_a_lesson_grow_with_a_wide_screen_and_stay_in_one_line(opened: Open, step: int) -> None:
    cell, sheets = ".tb-table tbody td", ".tb-sheet"
    page = opened(f"lessons?lesson=row&step={step}", width=1440, height=900)
    small = boxes(page, cell)[0]
    page.set_viewport_size({"width": 1920, "height": 1080})
    until(lambda: boxes(page, cell)[0]["height"] > 1.3 * small["height"])
    middles = [box["y"] + box["height"] / 2 for box in boxes(page, sheets)]
    assert len(middles) == 3
    assert max(middles) - min(middles) < 2, "none of them has slipped into the next line"
