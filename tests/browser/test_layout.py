"""Where things stand on a page: level, whole, and where one looks for them. At a projector's size and on a phone.

What holds for every page, test_every_view.py asks of every view.
"""

import json

import pytest
from playwright.sync_api import expect

from attnviz.pages.lessons.panels import all_lessons
from tests.browser.canvas_places import finger
from tests.browser.conftest import answered, at_rest, resized, still, until
from tests.browser.every_view import page_of, views
from tests.browser.layout_faults import layout_faults
from tests.browser.saving import open_menu

PROJECTOR = {"width": 1280, "height": 720}
PHONE = {"width": 390, "height": 844, "has_touch": True, "is_mobile": True}
LARGE = (1920, 1080)


def boxes(page, selector):
    return [box for each in page.locator(selector).all() if (box := each.bounding_box())]


def test_a_projector_shows_the_sentences_beside_the_title_and_charts_in_their_places(opened):
    page = opened("sharing", ".st-key-canvas-of-h-three canvas", **PROJECTOR)
    heading = ".st-key-page-heading h1", ".st-key-page-heading > .stElementContainer > .stMarkdown", ".st-key-present"
    title, about, buttons = (page.locator(part).bounding_box() for part in heading)
    assert title["x"] + title["width"] < about["x"]
    assert about["x"] + about["width"] < buttons["x"]
    charts_fit_their_places(page)
    page.set_viewport_size({"width": 1440, "height": 900})
    until(
        lambda: (
            page.locator(".st-key-page-heading > .stElementContainer > .stMarkdown").bounding_box()["y"]
            > title["y"] + title["height"]
        )
    )


#: The title, and Words, Present and Share beside it, whose upper edge something else lies over.
COVERED = """() => [...document.querySelectorAll("h1, .st-key-page-heading [data-testid=stHorizontalBlock] button")]
    .filter((one) => {
        const {left, top} = one.getBoundingClientRect();
        return !one.contains(document.elementFromPoint(left + 8, top + 2)) && one.checkVisibility();
    }).map((one) => one.innerText)"""
MENU = "[data-testid=stSidebar]"


#: pixels across; 720 by 450 is a window of 1440 by 900 at a zoom of 200%
@pytest.mark.parametrize("width, height", [(640, 800), (700, 800), (768, 800), (1024, 768), (1440, 900), (720, 450)])
def test_the_heading_is_whole_whether_the_menu_is_open_or_folded(opened, width, height):
    page = opened("masks", ".av-mask canvas", width=width, height=height)
    folded = page.locator(MENU).get_attribute("data-collapsed") == "true"
    assert page.evaluate(COVERED) == []
    if folded:
        page.get_by_test_id("stExpandSidebarButton").click()
    else:
        page.locator(MENU).hover()
        page.get_by_test_id("stSidebarCollapseButton").locator("button").click()
    expect(page.locator(MENU)).to_have_attribute("data-collapsed", str(not folded).lower())
    still(page)
    if width >= 768 or not folded:  # on a narrow window an open menu lies over the page
        assert page.evaluate(COVERED) == []


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


@pytest.mark.parametrize("width, height", [(1024, 768), (1280, 720), (1440, 900)])
@pytest.mark.parametrize(
    "view, drawn", [("scaling", ".katex"), ("heads", ".dvn-scroller"), ("masks", ".av-mask canvas")]
)
def test_numbers_formulas_and_tables_are_whole_beside_a_picture(opened, view, drawn, width, height):
    page = opened(view, drawn, width=width, height=height)
    still(page)
    assert page.evaluate(NOT_WHOLE) == []
    assert layout_faults(page) == []
    legends = page.locator(".av-bar-row").evaluate_all("all => all.map((one) => one.scrollWidth - one.clientWidth)")
    assert all(beyond <= 0 for beyond in legends)


WITH_TABLES = ("build", "compare", "decoding", "fast", "masks", "positions", "scaling", "sharing")


@pytest.mark.parametrize("view", [view for view in views() if page_of(view) in WITH_TABLES])
def test_no_view_hides_a_column_or_breaks_a_number_in_the_narrowest_window_with_a_menu(opened, view):
    page = opened(view, width=1024, height=768)
    still(page)
    assert page.evaluate(NOT_WHOLE) == []
    assert layout_faults(page) == []


def charts_fit_their_places(page):
    page.locator(".st-key-h-pairs .main-svg").first.wait_for()
    wide = "all => all.filter(c => c.scrollWidth > c.clientWidth + 1).map(c => [c.clientWidth, c.scrollWidth])"
    assert page.locator(".stPlotlyChart").evaluate_all(wide) == []
    chart, names = page.locator(".st-key-h-pairs .nsewdrag").bounding_box(), boxes(page, ".st-key-h-pairs .annotation")
    assert chart["x"] <= min(name["x"] for name in names)
    assert max(name["x"] + name["width"] for name in names) <= chart["x"] + chart["width"]
    rows = [round(name["y"]) for name in names]
    assert min(rows.count(y) for y in rows) > 1, "no head stands alone in a row"


def controls_are_level(page):
    fields = "stTextInput", "stButtonGroup", "stSelectbox"
    row = [box for name in fields for box in boxes(page, f".st-key-build-controls [data-testid={name}]")]
    assert len(row) == 5
    assert max(box["y"] for box in row) - min(box["y"] for box in row) < 1
    assert max(box["height"] for box in row) - min(box["height"] for box in row) < 1
    [more] = boxes(page, ".st-key-build-controls [data-testid=stPopover]")
    assert abs(more["y"] + more["height"] - row[0]["y"] - row[0]["height"]) < 1, "“More” stands in the same line"


def are_level(found):
    middles = [box["y"] + box["height"] / 2 for box in found]
    return max(middles) - min(middles) < 2


def grow(page, walk, back, more):
    """The matrices of each step that `walk` goes to, and `back` from: larger in a large window, and still in a line."""

    def first():
        return page.locator("[data-at]").first.bounding_box() or {"width": 0, "height": 0}  # none: being drawn

    small = []
    for go in walk:
        go()
        until(lambda: first()["height"])
        small.append(first())
    page.set_viewport_size(dict(zip(("width", "height"), LARGE, strict=True)))
    for size, go in zip(reversed(small), back, strict=True):
        until(lambda size=size: all(first()[side] > 1.3 * size[side] for side in more))
        assert len(boxes(page, ".tb-sheet")) > 1 or "width" in more
        until(lambda: are_level(boxes(page, ".tb-sheet")))  # none of them has slipped into the next line
        go()


@pytest.mark.parametrize("language", ["en-GB", "zh-CN"])
def test_building_is_level_shows_every_step_and_grows_with_the_window(opened, language):
    page = opened("build?b_step=embed", ".tb-table", locale=language, **PROJECTOR)
    controls_are_level(page)
    if language == "zh-CN":
        return
    assert page.locator(".ts-strip").evaluate("row => row.scrollWidth <= row.clientWidth"), "every step is seen"

    def to(step):
        def go():
            page.get_by_role("tab", name=step).click()
            expect(page.get_by_role("tab", name=step)).to_have_attribute("aria-selected", "true")
            answered(page)

        return go

    steps = ["Embed", "Project", "Scores", "Norm"]
    grow(page, [*map(to, steps)], [*map(to, ["Scores", "Project", "Embed", "Embed"])], ("width", "height"))


def test_the_matrices_of_a_lesson_grow_with_the_window(opened):
    page = opened("lessons?lesson=row&step=1", ".tb-table", width=1440, height=900)

    steps, here = all_lessons.LESSONS["row"].steps, [1]

    def to(step):
        def go():
            while here[0] != step:
                way = 1 if step > here[0] else -1
                page.keyboard.press("ArrowRight" if way == 1 else "ArrowLeft")
                here[0] += way
                expect(page.locator("h3")).to_have_text(steps[here[0] - 1].title)
                answered(page)

        return go

    grow(page, [to(1), to(2), to(5)], [to(2), to(1), to(1)], ("height",))


def test_a_building_step_is_seen_whole_on_a_phone_where_matrices_are_chosen_and_help_is_read(opened):
    page = opened("build?b_step=norm&b_dropout=0.5", **PHONE)

    def chosen_is_whole():
        chip, row = (page.locator(part).bounding_box() for part in (".ts-chip[aria-selected=true]", ".ts-strip"))
        return chip and row["x"] <= chip["x"] and chip["x"] + chip["width"] <= row["x"] + row["width"]

    until(chosen_is_whole)
    for step in ("Output", "Softmax", "Embed"):
        page.get_by_role("tab", name=step).tap()
        expect(page.get_by_role("tab", name=step)).to_have_attribute("aria-selected", "true")
        until(chosen_is_whole)
    answered(page)
    table = page.locator(".st-key-b-weights [data-testid=stDataFrame]").first
    table.scroll_into_view_if_needed()
    table.tap()
    page.locator(".st-key-b-weights").get_by_role("radio").last.tap()
    page.wait_for_url("**b_matrix=W_O*")
    answered(page)
    page.get_by_role("button", name="More").tap()
    page.get_by_text("Dropout acts only in training mode.").tap()
    training = page.get_by_role("switch", name="Training mode").or_(page.get_by_label("Training mode"))
    expect(training).not_to_be_checked()  # help with a switch is read without turning it


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


def test_the_save_menu_of_start_opens_to_a_menu_that_can_be_read(opened):
    page = opened("", ".st-key-home-out-save-menu button", **PROJECTOR)
    open_menu(page.locator(".st-key-home-out-save-menu button").first)
    body = page.locator("[data-testid=stPopoverBody]")
    body.get_by_text("Title, caption, background").wait_for()

    def inside_the_window():  # it opens by growing
        place = body.bounding_box()
        return place["height"] > 300 and place["y"] >= 0 and place["y"] + place["height"] <= 720

    until(inside_the_window)


@pytest.mark.parametrize(
    "address, picture", [("heads", ".st-key-hd_map .nsewdrag"), ("sharing", ".st-key-canvas-of-h-three canvas")]
)
def test_a_picture_begins_on_the_first_screen_of_a_phone(opened, address, picture):
    page = opened(address, picture, **PHONE)
    assert page.locator(picture).first.bounding_box()["y"] < PHONE["height"] - 20
    page.get_by_role("button", name="Words").tap()
    expect(page.locator("[data-testid=stPopoverBody]").get_by_text("sentences in a batch")).to_be_visible()


@pytest.mark.parametrize("picture", [".st-key-p_order_before .nsewdrag", ".sp-tape", ".st-key-l-vectors table"])
@pytest.mark.parametrize("language", ["en-GB", "zh-CN"])
def test_a_phone_shows_a_picture_before_what_is_chosen_seldom(opened, picture, language):
    addresses = {".sp-tape": "decoding", ".st-key-l-vectors table": "lessons?lesson=attention&step=1"}
    page = opened(addresses.get(picture, "positions"), picture, locale=language, **PHONE)
    drawn = page.locator(picture).first
    if picture == ".st-key-l-vectors table":
        place = page.locator(".st-key-l-vectors").first.bounding_box()
        assert drawn.bounding_box()["width"] <= place["width"] + 1, "seen whole"
        return
    until(lambda: drawn.bounding_box()["y"] < PHONE["height"] - 20)
    more = page.locator(".stMain").get_by_role("button").filter(has_text="tune").bounding_box()
    assert more["x"] + more["width"] <= PHONE["width"], "what is chosen seldom is one touch away"


def test_the_marks_of_a_chart_come_without_the_whole_page_being_styled_again_for_each(opened, browser):
    page = opened("masks", ".js-plotly-plot text")
    browser.start_tracing(page=page, categories=["devtools.timeline"])
    page.reload()
    at_rest(page, ".js-plotly-plot text")
    still(page)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    styled = [each["args"].get("elementCount", 0) for each in events if each["name"] == "UpdateLayoutTree"]
    assert 1 < sum(styled) / page.locator("*").count() < 12  # 44 with a rule that asks what the page holds


def test_a_wide_screen_is_used_for_two_terms_in_a_line(opened):
    page, term = opened("glossary", **PROJECTOR), ".st-key-terms-of-glossary > * > [class*=st-key-glossary-]"
    assert len({box["x"] for box in boxes(page, term)}) == 1
    for size in ((1440, 900), LARGE):
        resized(page, *size)
        first, second, third = boxes(page, term)[:3]
        assert first["y"] == second["y"]
        assert second["x"] > first["x"] + first["width"], "two stand beside each other"
        assert third["x"] == first["x"]
        assert third["y"] > first["y"]
        assert abs(first["width"] - second["width"]) < 1
        assert first["height"] == second["height"]


def test_the_first_step_of_all_fills_the_window_and_is_seen_whole(opened):
    page = opened("lessons?lesson=attention&step=1", ".st-key-l-vectors tr", **PROJECTOR)
    last = page.locator(".st-key-l-vectors tr").last
    for (width, height), numbers in (((1280, 720), 6), ((1440, 900), 8), (LARGE, 12)):
        resized(page, width, height)
        row, column = last.bounding_box(), page.locator(".st-key-l-vectors").bounding_box()
        assert abs(row["x"] + row["width"] - column["x"] - column["width"]) < 2
        assert 0.8 * height < row["y"] + row["height"] < height
        shown = [cell for cell in last.locator("td").all() if cell.is_visible()]
        assert len(shown) == 2 + numbers + 1, "place, token, as many numbers as there is room for, and dots"
        assert all(box["x"] + box["width"] <= column["x"] + column["width"] + 1 for box in boxes(last, "td:visible"))


def test_a_wide_screen_is_used_for_a_larger_picture_with_its_words_beside_it(opened):
    page = opened("pictures", ".pv-tile[aria-pressed=true]", **PROJECTOR)
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
