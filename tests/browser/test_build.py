"""The building page in a real Chromium: highlighting, walking, choosing and editing, by mouse, finger and keyboard."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from attnviz.pages.build.maths.attention_by_hand import run
from attnviz.pages.build.maths.inputs import Config
from tests.browser.conftest import answered, widest
from tests.browser.saving import saved

Open = Callable[..., Any]


@pytest.fixture
def open_build(server_url: str, new_page: Open) -> Open:
    """`open_build("?b_step=softmax")`: the page, its board drawn; at the scores unless told otherwise."""

    def opened(query: str = "?b_step=scores", **options: Any) -> Any:
        page = new_page(**options)
        page.goto(f"{server_url}/build{query}")
        page.get_by_text("The same in PyTorch").wait_for()
        page.locator(".tb-line-out").wait_for()
        return page

    return opened


def at(page: Any, sheet: int, r: int, c: int) -> Any:
    """The locator of one number on the board."""
    return page.locator(f'[data-at="{sheet},{r},{c}"]')


def lit(page: Any) -> list[str]:
    return [cell.get_attribute("data-at") for cell in page.locator(".tb-from").all()]


def written(page: Any) -> tuple[float, float]:
    """The sum under the board, as (the value of its terms, the result that is written)."""
    text = page.locator(".tb-line-out").inner_text().replace("\n", " ").replace("−", "-").replace("≈", "=")
    _name, terms, total = re.split(r"\s=\s", text, maxsplit=2)
    return float(eval(terms.replace("×", "*"))), float(total)


def test_pointing_at_a_score_lights_its_row_and_column_and_writes_the_sum(open_build: Open) -> None:
    page = open_build()
    scores = run(Config()).tensors["scores"][0, 0]
    for r, c in ((2, 3), (0, 1), (3, 0)):
        at(page, 2, r, c).hover()
        assert lit(page) == [f"0,{r},0", f"0,{r},1", f"1,0,{c}", f"1,1,{c}"]
        came_to, said = written(page)
        assert came_to == pytest.approx(said, abs=1e-3)
        assert said == pytest.approx(float(scores[r, c]), abs=1e-4)


def test_a_chosen_number_stays_lit_even_after_a_reload(open_build: Open) -> None:
    page = open_build("?b_step=softmax")
    at(page, 1, 2, 3).click()
    page.wait_for_url("**b_at=*")
    assert lit(page) == [f"0,2,{c}" for c in range(4)]
    page.reload()
    page.locator(".tb-line-out").wait_for()
    page.get_by_text("A[sat, down]").wait_for()


def test_arrow_keys_move_over_the_numbers(open_build: Open) -> None:
    page = open_build()
    at(page, 2, 1, 0).focus()
    for key, place in (("ArrowRight", "2,1,1"), ("ArrowDown", "2,2,1"), ("End", "2,2,3"), ("ArrowUp", "2,1,3")):
        page.keyboard.press(key)
        assert page.locator(".tb-lit").get_attribute("data-at") == place
    page.wait_for_url("**b_at=*")
    answered(page)
    assert page.locator(".tb-lit").get_attribute("data-at") == "2,1,3"
    page.keyboard.press("ArrowLeft")  # the cell kept the focus when Python answered
    assert page.locator(".tb-lit").get_attribute("data-at") == "2,1,2"


@pytest.mark.every_commit
def test_the_walk_goes_forward_and_back_and_the_link_follows(open_build: Open) -> None:
    page = open_build()
    page.get_by_role("button", name="Next step").click()
    page.wait_for_url("**b_step=scale*")
    page.get_by_text("dividing by √D takes that back").wait_for()
    page.get_by_role("tab", name="Softmax").click()
    page.wait_for_url("**b_step=softmax*")
    page.get_by_text("Each row becomes shares").wait_for()
    page.keyboard.press("Home")
    page.wait_for_url("**b_step=embed*")
    page.get_by_text("has the same row wherever it stands").wait_for()
    expect(page.get_by_role("button", name="Step back")).to_be_disabled()


def test_matrices_and_heads_are_switched_on_the_board(open_build: Open) -> None:
    page = open_build("?b_step=project")
    page.get_by_role("radio", name="V", exact=True).click()
    page.get_by_text("[B, K, G·Dv]").wait_for()
    value = run(Config()).tensors["V_flat"][0, 0, 0]
    assert at(page, 2, 0, 0).inner_text() == f"{value:.2f}".replace("-", "−")
    page.get_by_role("tab", name="Scores").click()
    page.get_by_text("The best match in head 1").wait_for()
    page.get_by_role("group").or_(page.get_by_role("radiogroup", name="Head")).get_by_role("radio", name="2").click()
    page.get_by_text("The best match in head 2").wait_for()


def test_a_weight_typed_into_the_editor_changes_the_board_and_the_link(open_build: Open) -> None:
    page = open_build("?b_step=project")
    before = at(page, 2, 0, 0).inner_text()
    grid = page.get_by_test_id("stDataFrame").locator("canvas").first
    grid.scroll_into_view_if_needed()
    box = grid.bounding_box()
    page.mouse.dblclick(box["x"] + 44 + 30, box["y"] + 35 + 17)  # row 1, column 1
    editor = page.locator("#portal input")
    editor.wait_for()
    editor.fill("9")  # in one go: Streamlit's editor rewrites a number while it is being typed
    expect(editor).to_have_value("9")
    page.keyboard.press("Enter")
    page.get_by_text("1 cell typed in by you", exact=False).first.wait_for()
    page.wait_for_url("**b_at=*")
    expect(at(page, 1, 0, 0)).to_have_text("9.0")
    assert at(page, 2, 0, 0).inner_text() != before
    page.reload()
    page.locator(".tb-line-out").wait_for()
    expect(at(page, 1, 0, 0)).to_have_text("9.0")
    page.get_by_role("button", name="Undo all edits").click()
    page.get_by_text("Nothing is edited yet").wait_for()
    assert at(page, 2, 0, 0).inner_text() == before


def test_on_a_phone_nothing_overflows_sideways_and_a_tap_chooses(open_build: Open) -> None:
    page = open_build("?b_step=scores", width=390, height=844, dark=True, has_touch=True, is_mobile=True)
    assert widest(page) <= 390
    at(page, 2, 3, 2).tap()
    page.get_by_text("S[down, sat]").wait_for()
    came_to, said = written(page)
    assert came_to == pytest.approx(said, abs=1e-3)


def test_words_are_shown_as_typed(open_build: Open) -> None:
    page = open_build("?b_step=embed&b_text=<b>x</b>+**y**+%24z%24")
    headers = [cell.inner_text() for cell in page.locator(".tb-result tbody th").all()]
    assert headers == ["<b>x</b>", "**y**", "$z$"]


def test_the_numbers_of_a_step_are_saved_as_a_table(open_build: Open) -> None:
    page = open_build("?b_step=softmax")
    page.get_by_role("button", name="Export").first.click()
    lines = saved(page, page.get_by_role("button", name="CSV, the numbers")).path().read_text().splitlines()
    assert lines[0] == "row,column,A"
    weights = run(Config()).tensors["weights"][0, 0]
    assert [float(line.split(",")[2]) for line in lines[1:]] == pytest.approx(weights.ravel().tolist())
