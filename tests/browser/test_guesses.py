"""A guess before the truth: what a page asks about its picture, and how it keeps the guess beside what is so."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import still

#: By page: the name of its guess in a link, an answer, and what stands beside the guess then.
GUESSES = {
    "build": ("b_guess", "0", r"Computed: down\. In head 1, cat gives down 51%: its score, [-−]1\.39, is the largest"),
    "born": ("born_guess", "300", r"You predicted: 300\. Computed: between steps 333 and 356"),
    "positions": (
        "p_guess",
        "before",
        r"You predicted: because\. Computed: animal\. With animal and because",
    ),
    "scaling": ("s_guess", "four", r"Computed: Twice as far\. q·k adds 256 .* from 8 to 16\. In this one draw"),
    "masks": ("m_guess", "lost", r"Computed: Each gets in proportion\. With on closed, .* from 33% to 90%\."),
    "fast": ("fast_guess", "alike", r"Computed: Queries\. Now 216\.4 KiB go through the door; "),
    "compare": (
        "c_guess",
        "10",
        r"Computed: 3\. Dilated, a convolution reaches the word 20 further on in 3 layers; undilated, in 10\.",
    ),
    "heads": ("hd_guess", "1", r"Computed: layers 0 to 9\. First-token heads: 53 in layers 0 to 9, 29 in"),
    "pictures": ("pic_guess", "less", r"Computed: Surer\. The model says four \(96\.1%\) without row 1, column 5"),
    "why": (
        "why_guess",
        "less",
        r"So it is\. Without head 23\.4 the lead loses \+1\.77",
    ),
}


@pytest.mark.parametrize("name", GUESSES)
def test_a_guess_is_kept_beside_the_truth_moves_nothing_above_it_and_is_in_the_link(new_page, server_url, name):
    guess, answer, truth = GUESSES[name]
    page = new_page(width=1280, height=720, reduced_motion="reduce")
    page.goto(f"{server_url}/{name}")
    line, picture = page.locator(f".st-key-guess-{guess}"), page.locator(".st-key-main-picture .stBidiComponent").first
    button = page.locator(f".st-key-{guess}-{answer} button")
    expect(button).to_be_visible()
    still(page)
    assert button.bounding_box()["y"] < 720 - 30, "a question below the first screen is asked of nobody"
    before, question = picture.bounding_box(), line.text_content()
    button.press("Enter")  # as by a click
    expect(line).to_contain_text(re.compile(truth))
    still(page)
    assert picture.bounding_box() == before
    expect(line.locator(".stMarkdown")).to_be_focused()
    expect(page).to_have_url(re.compile(f"[?&]{guess}={answer}"))
    if name == "build":
        again = new_page(width=390, height=844, has_touch=True, is_mobile=True, reduced_motion="reduce")
        again.goto(page.url)
        expect(again.locator(f".st-key-guess-{guess}")).to_contain_text(re.compile(truth))
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # on "Ask again"
    expect(line).to_have_text(question)
    expect(line.locator(".stMarkdown")).to_be_focused()
    assert guess not in page.url
