"""The mask page in a real Chromium: painting by mouse, finger and keyboard, and what the link keeps of it."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.canvas_places import cell_on
from tests.browser.conftest import opens, widest
from tests.browser.saving import saved

Open = Callable[..., Any]


open_masks = opens("masks", "[data-testid=mask]", "text=The same in PyTorch")


def cell(page: Any, q: int, k: int, n: int = 10) -> tuple[float, float]:
    """The screen position of a cell of the grid."""
    return cell_on(page.get_by_test_id("mask"), q, k, n)


def kept(page: Any, text: str) -> None:
    """Wait until Python's sentence under the grid contains `text`."""
    page.get_by_text(text).wait_for()


@pytest.mark.every_commit
def test_a_click_reaches_weights_code_and_link_and_is_kept_under_another_rule(open_masks: Open) -> None:
    page = open_masks()
    kept(page, "55 of 100 scores.")
    page.mouse.click(*cell(page, 0, 9))
    kept(page, "56 of 100 scores. 1 cell is painted.")
    page.get_by_text("The same in PyTorch").click()
    page.get_by_text("(0, 9, True)").wait_for()
    page.wait_for_url("**m_paint=*")
    page.reload()
    kept(page, "56 of 100 scores. 1 cell is painted.")
    page.get_by_label("The mask, painted over", exact=True).click()
    page.get_by_role("option", name="sliding window").click()
    kept(page, "35 of 100 scores. 1 cell is painted.")
    window = page.get_by_label("words seen, itself included")
    window.fill("2")
    window.press("Enter")
    kept(page, "20 of 100 scores. 1 cell is painted.")
    assert "m_rule1=window" in page.url
    assert "m1_window_window=2" in page.url
    page.get_by_role("button", name="Remove the paint").click()
    kept(page, "19 of 100 scores.")


def test_a_drag_hides_a_row_undo_brings_it_back_and_the_keyboard_paints_too(open_masks: Open) -> None:
    page = open_masks()
    page.mouse.move(*cell(page, 9, 0))
    page.mouse.down()
    page.mouse.move(*cell(page, 9, 9), steps=6)
    page.mouse.up()
    kept(page, "45 of 100 scores. 10 cells are painted.")
    kept(page, "may look at nothing. Its row is zero here")
    page.keyboard.press("Control+z")
    kept(page, "55 of 100 scores.")
    page.get_by_text("may look at nothing. Its row").wait_for(state="detached")
    page.wait_for_function("() => !location.search.includes('m_paint')")
    for key in ("ArrowUp", "Space"):
        page.keyboard.press(key)
    kept(page, "1 cell is painted.")


def test_a_hundred_words_are_painted_without_gaps(open_masks: Open) -> None:
    text = "+".join(f"word{n}" for n in range(100))
    page = open_masks(f"?m_text={text}&m_rule1=window&m1_window_window=20", height=1200)
    kept(page, "1,810 of 10,000 scores.")
    page.mouse.move(*cell(page, 5, 60, 100))
    page.mouse.down()
    page.mouse.move(*cell(page, 5, 89, 100), steps=3)
    page.mouse.up()
    kept(page, "1,840 of 10,000 scores. 30 cells are painted.")


def test_on_a_dark_phone_a_finger_paints_and_nothing_overflows(open_masks: Open) -> None:
    page = open_masks("?m_view=traps", width=390, height=844, dark=True, has_touch=True)
    page.touchscreen.tap(*cell(page, 0, 5))
    kept(page, "56 of 100 scores. 1 cell is painted.")
    page.get_by_text("What the right code gives").wait_for()
    assert widest(page) <= 390


def test_training_is_drawn_while_it_runs_and_the_mask_is_saved_as_numbers(open_masks: Open) -> None:
    page = open_masks("?m_text=a+b+c&m_view=training")
    page.get_by_role("button", name="Train both, live").click()
    page.get_by_text("its loss falls to").wait_for()
    page.get_by_text("Learnt weights under the shifted mask").wait_for()
    page.get_by_role("button", name="Export").first.click()
    lines = saved(page, page.get_by_role("button", name="CSV, the numbers")).path().read_text().splitlines()
    assert lines[0] == "query,key,query word,key word,mask"
    assert [line.rsplit(",", 1)[1] for line in lines[1:]] == list("100110111")
