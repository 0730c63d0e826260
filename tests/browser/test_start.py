"""Start tells one story: the sentence is the picture, and what a hand touches is what moves."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import resized, still, until

PROJECTOR, LAPTOP, PHONE = {"width": 1280, "height": 720}, {"width": 1440, "height": 900}, {"width": 390, "height": 844}
OWN = "?sentence=My+grandmother+baked+a+cake+and+she+gave+it+to+me."


def said(page) -> str:
    return " ".join(page.get_by_test_id("said").inner_text().split())


def word(page, name):
    return page.get_by_role("option", name=name, exact=True)


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


def test_a_ribbon_is_dragged_and_pressed_and_the_ends_of_every_handle_have_a_true_sentence(opened_start):
    page = opened_start(**PROJECTOR)
    page.get_by_role("button", name="all alike").click()
    until(lambda: "takes the same from each of 9 words: 11%" in said(page))
    page.get_by_role("switch").click()
    until(lambda: "each of 13 words: 8%. 31% of it comes from later words" in said(page))
    page.get_by_role("button", name="no scaling").click()
    until(lambda: "becomes mostly “animal”" in said(page))
    page.get_by_role("switch").click()
    word(page, "The").click()
    until(lambda: said(page) == "“The” can look at nothing but itself: it stays what it is.")
    page.get_by_role("button", name="1/√d").click()
    word(page, "it").click()
    until(lambda: said(page).startswith("“it” becomes mostly “animal”"))
    still(page)
    trunk = ribbon(page, 1)
    page.mouse.move(*trunk)
    page.mouse.down()
    page.mouse.move(trunk[0], trunk[1] + 300, steps=4)
    page.mouse.up()
    until(lambda: "takes the same from each of 9 words" in said(page))
    page.wait_for_url(lambda url: "start_factor=0" in url)
    page.get_by_role("button", name="1/√d").click()
    until(lambda: said(page).startswith("“it” becomes mostly “animal”"))
    still(page)
    page.mouse.click(*ribbon(page, 1))
    until(lambda: re.match(r"“it” takes 75% from “animal”\.\s*Query times key is ", said(page)))
    page.wait_for_url(lambda url: "start=" in url)


def test_the_sentence_is_typed_where_it_stands(opened_start):
    page = opened_start(**PROJECTOR)
    field = page.get_by_label("Type a sentence", exact=True)
    seen = "field => getComputedStyle(field.closest('.st-key-home-sentence').parentElement).opacity"
    assert field.evaluate(seen) == "0"
    page.get_by_role("button", name="Type your own").click()
    expect(field).to_be_focused()
    until(lambda: field.evaluate(seen) == "1")
    page.keyboard.type("A dog saw it")
    until(lambda: page.get_by_role("option").all_inner_texts() == ["A", "dog", "saw", "it"])
    page.keyboard.press("Enter")
    expect(field).not_to_be_focused()
    page.wait_for_url(lambda url: "sentence=A+dog+saw+it" in url)


def test_a_word_is_guessed_before_its_ribbons_are_shown_and_whatever_a_hand_does_shows_them(opened_start):
    page = opened_start(**PROJECTOR)
    guess = page.get_by_test_id("guess")
    guess.click()
    until(lambda: said(page).startswith("Where does “tired” look most?"))
    assert "%" not in said(page)
    page.keyboard.press("ArrowLeft")  # by the keyboard one goes to a word, and answers by Enter
    page.keyboard.press("Enter")
    until(lambda: said(page).startswith("You guessed “too”"))
    assert "41% of “it”" in said(page)
    guess.click()
    until(lambda: said(page).startswith("Where does "))
    word(page, "animal").click()
    until(lambda: said(page).startswith("You guessed “animal”, and you are right."))
    for reveal in (guess.click, page.get_by_role("switch").click, lambda: page.keyboard.press("Escape")):
        guess.click()
        until(lambda: said(page).startswith("Where does "))
        reveal()
        until(lambda: not said(page).startswith("Where does "))


def ribbon(page, word: int) -> tuple[float, float]:
    """A place in the window on the ribbon of a word, just above it."""
    box = page.get_by_role("option").nth(word).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] - 6


@pytest.fixture
def opened_start(opened):
    """`opened_start("?sentence=…", width=…)`: Start with its picture drawn."""

    def open_it(view="", **window):
        page = opened(view, "[data-testid=ribbons]", **window)
        still(page)
        return page

    return open_it


def test_the_picture_is_on_the_first_screen_and_its_matrix_unfolds_on_one_canvas_or_at_once(opened_start):
    page = opened_start(**PROJECTOR)
    for window in (PROJECTOR, PHONE, LAPTOP):
        resized(page, **window)
        box = page.get_by_test_id("said").bounding_box()
        assert box["y"] + box["height"] < window["height"]
    sizes = page.get_by_test_id("ribbons").first.evaluate_handle("""root => {
        const seen = new Set();
        const canvas = root.matches("canvas") ? root : root.querySelector("canvas");
        new MutationObserver(() => seen.add(canvas.height)).observe(canvas, {attributeFilter: ["height"]});
        return seen;
    }""")
    for _press in range(2):
        page.get_by_test_id("unfold").first.click()
        still(page)
    assert 1 <= sizes.evaluate("seen => seen.size") <= 3, "it is not made anew in each frame"
    page.emulate_media(reduced_motion="reduce")
    page.get_by_test_id("unfold").first.click()
    assert page.locator("[data-gliding]").count() == 0
