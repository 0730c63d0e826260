"""Start tells one story: the sentence is the picture, and what a hand touches is what moves."""

import pytest

from tests.browser.conftest import answered, resized, still, until

PROJECTOR, LAPTOP, PHONE = {"width": 1280, "height": 720}, {"width": 1440, "height": 900}, {"width": 390, "height": 844}
OWN = "/?sentence=My+grandmother+baked+a+cake+and+she+gave+it+to+me."


def said(page) -> str:
    return page.get_by_test_id("said").inner_text()


def word(page, name):
    return page.get_by_role("option", name=name, exact=True)


def test_the_picture_and_its_sentence_are_on_the_first_screen(opened_start):
    page = opened_start("/", **PROJECTOR)
    for window in (PROJECTOR, LAPTOP, PHONE):
        resized(page, **window)
        box = page.get_by_test_id("said").bounding_box()
        assert box["y"] + box["height"] < window["height"]


def test_a_visitors_own_sentence_is_told_by_the_word_that_tells_most_and_a_touch_moves_on(opened_start):
    page = opened_start(OWN, **PROJECTOR)
    assert said(page).startswith("“it” becomes mostly “cake”: 98% of its new vector.")
    assert word(page, "it").get_attribute("aria-selected") == "true"
    for _ in range(2):  # the word on show stays, however often it is touched
        word(page, "she").click()
        until(lambda: said(page).startswith("“she” "))
    page.keyboard.press("ArrowLeft")
    until(lambda: said(page).startswith("“and” "))
    page.keyboard.press("ArrowUp")
    until(lambda: said(page).startswith("“and” takes "))
    page.keyboard.press("Escape")
    until(lambda: "takes" not in said(page))


def test_the_ends_of_every_handle_have_a_true_sentence(opened_start):
    page = opened_start("/", **PROJECTOR)
    page.get_by_role("button", name="all alike").click()
    until(lambda: "takes the same from each of 9 words: 11%" in said(page))
    page.get_by_role("switch").click()
    until(lambda: "each of 13 words: 8%. 31% of it comes from later words" in said(page))
    page.get_by_role("button", name="no scaling").click()
    until(lambda: "becomes mostly “animal”" in said(page))
    page.get_by_role("switch").click()
    word(page, "The").click()
    until(lambda: said(page) == "“The” can look at nothing but itself: it stays what it is.")


def test_less_motion_has_no_way_between_two_pictures(opened_start):
    page = opened_start("/", **PROJECTOR, reduced_motion="reduce")
    page.get_by_role("button", name="Unfold the matrix").click()
    assert page.locator("[data-gliding]").count() == 0


@pytest.fixture
def opened_start(new_page, server_url):
    """`opened_start(address, width=…)`: Start with its picture drawn."""

    def opened(address, **window):
        page = new_page(**window)
        page.goto(f"{server_url}{address}")
        page.get_by_test_id("ribbons").wait_for()
        answered(page)
        still(page)
        return page

    return opened
