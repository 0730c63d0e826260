"""Lessons in a browser: equations on one line, steps that move, the menu that closes, and notes that are seen."""

import pytest
from playwright.sync_api import expect

from attnviz.pages.lessons.panels import all_lessons
from tests.browser.conftest import another_view, still, until

PROJECTOR = {"width": 1280, "height": 720}
BOARDS = [
    f"lesson={lesson.id}&step={number}"
    for lesson in all_lessons.LESSONS.values()
    for number, step in enumerate(lesson.steps, 1)
    if step.picture.kind == "board"
]


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


def test_a_link_that_is_copied_does_not_open_the_teachers_notes(opened):
    page = opened("lessons?lesson=row&step=2", ".tb-table")
    page.get_by_text("Teacher’s notes").click()
    expect(page.locator(".st-key-l-notes-box")).to_be_visible()
    page.get_by_role("button", name="Share").click()
    address = page.locator("[data-testid=stPopoverBody] .stCode").first
    expect(address).to_contain_text("lesson=row")
    expect(address).not_to_contain_text("l_notes")
