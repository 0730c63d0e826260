"""Lessons in a browser: equations on one line, steps that move, the menu that closes, and notes that are seen."""

import pytest
from playwright.sync_api import expect

from attnviz.pages.lessons.panels import all_lessons
from tests.browser.conftest import another_view, answered, still, until

PROJECTOR = {"width": 1280, "height": 720}
BOARDS = [
    f"lesson={lesson.id}&step={number}"
    for lesson in all_lessons.LESSONS.values()
    for number, step in enumerate(lesson.steps, 1)
    if step.picture.kind == "board"
]
#: Writes down what moves on the board, with the milliseconds that it takes, and the longest frame of a busy machine.
WATCH = """board => {
    window.moved = [];
    window.longest = 0;
    let last = performance.now();
    const frame = (now) => {
        window.longest = Math.max(window.longest, now - last);
        last = now;
        requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
    new MutationObserver(() => {
        const now = performance.now();
        if (board.dataset.moving) window.moved.push({...JSON.parse(board.dataset.moving), began: now});
        else if (window.moved.length) window.moved.at(-1).time = now - window.moved.at(-1).began;
    }).observe(board, {attributeFilter: ["data-moving"]});
}"""


def apart(page) -> float:
    """How many pixels the middles of an equation's parts lie above and below each other."""
    boxes = [sheet.bounding_box() for sheet in page.locator(".tb-sheet").all()]
    middles = [box["y"] + box["height"] / 2 for box in boxes]
    return max(middles) - min(middles)


@pytest.mark.parametrize("end", ["", "&present=1"])
def test_an_equation_stands_on_one_line(opened, server_url, end):
    page = opened(f"lessons?{BOARDS[0]}{end}", ".tb-table", **PROJECTOR)
    assert len(BOARDS) >= 12
    for view in BOARDS:
        another_view(page, f"{server_url}/lessons?{view}{end}")
        page.locator(".tb-table").first.wait_for()
        still(page)
        until(lambda: apart(page) < 2)  # what glides to its place has come
        sheets = [sheet.bounding_box() for sheet in page.locator(".tb-sheet").all()]
        board = page.locator(".tb-sheets").bounding_box()
        assert sheets[-1]["x"] + sheets[-1]["width"] <= board["x"] + board["width"] + 1, view
        wider = page.locator("[data-at]").evaluate_all("all => all.map(c => c.scrollWidth - c.clientWidth)")
        assert max(wider) <= 1, f"{view}: a number is cut"


def moved_by_next(page, title):
    page.keyboard.press("ArrowRight")
    expect(page.locator("h3")).to_have_text(title)
    still(page)
    expect(page.locator(".tb-sheets[data-moving]")).to_have_count(0)
    return page.evaluate("() => window.moved.splice(0)")


@pytest.mark.parametrize("reduced", [False, True])
def test_what_stays_glides_and_what_is_new_comes_out_of_what_it_is_made_of(opened, reduced):
    less = {"reduced_motion": "reduce"} if reduced else {}
    page = opened("lessons?lesson=row&step=2", ".tb-table", **PROJECTOR, **less)
    page.locator(".tb-sheets").evaluate(WATCH)
    steps, words = all_lessons.LESSONS["row"].steps, 5
    for step, stays, numbers in ((2, "S", words * words), (3, "S_scaled", words * words), (4, "A", words * 4)):
        moved = moved_by_next(page, steps[step].title)
        if reduced:
            assert moved == []
            continue
        [move] = moved
        assert move["stays"] == [stays]
        assert move["numbers"] == numbers
        assert 300 <= move["time"] <= 500 + 2 * page.evaluate("window.longest")


def test_the_menu_closes_when_a_lesson_is_chosen(opened):
    page = opened("lessons", **PROJECTOR)
    page.locator(".st-key-l-lessons button").first.click()
    page.locator(".st-key-l-open-heads button").click()
    expect(page.locator("h3")).to_have_text(all_lessons.LESSONS["heads"].steps[0].title)
    expect(page.locator("[data-testid=stPopoverBody]")).to_have_count(0)


def test_a_teacher_sees_the_notes_without_scrolling(opened, server_url):
    page = opened("lessons?lesson=row&step=2&l_notes=true", ".st-key-l-notes-box", **PROJECTOR)
    for view in ("lesson=row&step=2", "lesson=attention&step=2", "lesson=order&step=4", "lesson=model&step=7"):
        another_view(page, f"{server_url}/lessons?{view}&l_notes=true")
        answered(page)
        notes = page.locator(".st-key-l-notes-box").bounding_box()
        assert notes["y"] + notes["height"] < 0.6 * PROJECTOR["height"]
        expect(page.locator("h3")).to_be_in_viewport()


def test_a_link_that_is_copied_does_not_open_the_teachers_notes(opened):
    page = opened("lessons?lesson=row&step=2", ".tb-table")
    page.get_by_text("Teacher’s notes").click()
    expect(page.locator(".st-key-l-notes-box")).to_be_visible()
    page.get_by_role("button", name="Share").click()
    address = page.locator("[data-testid=stPopoverBody] .stCode").first
    expect(address).to_contain_text("lesson=row")
    expect(address).not_to_contain_text("l_notes")
