"""A lesson walked by arrow keys in a real browser, and the link of each step."""

import re

import pytest
from playwright.sync_api import expect

from attnviz.pages.lessons.panels import all_lessons
from tests.browser.conftest import answered, listening, until


@pytest.mark.every_commit
def test_arrow_keys_walk_a_lesson_and_the_link_follows(server_url, new_page):
    page = new_page()
    steps = all_lessons.LESSONS["row"].steps
    page.goto(f"{server_url}/lessons?lesson=row")
    heading = page.locator("h3")
    expect(heading).to_have_text(steps[0].title, timeout=60_000)
    listening(page)
    for number, step in enumerate(steps[1:], 2):
        page.keyboard.press("ArrowRight")
        expect(heading).to_have_text(step.title, timeout=30_000)
        expect(page).to_have_url(re.compile(rf"lesson=row&step={number}"))
    page.keyboard.press("ArrowLeft")
    expect(heading).to_have_text(steps[-2].title, timeout=30_000)


def test_presses_that_come_while_a_step_is_being_drawn_each_count(server_url, new_page):
    page = new_page()
    steps = all_lessons.LESSONS["row"].steps
    page.goto(f"{server_url}/lessons?lesson=row")
    listening(page)
    for number in range(2, len(steps) + 1):
        page.keyboard.press("ArrowRight")
        page.wait_for_url(re.compile(rf"&step={number}"))  # the step is chosen, and not drawn yet
    expect(page.locator("h3")).to_have_text(steps[-1].title, timeout=30_000)


def test_an_arrow_key_in_the_sentence_stays_there(server_url, new_page):
    page = new_page()
    first = all_lessons.LESSONS["row"].steps[0].title
    page.goto(f"{server_url}/lessons?lesson=row")
    expect(page.locator("h3")).to_have_text(first, timeout=60_000)
    listening(page)
    box = page.get_by_label("Sentence")
    box.click()
    page.keyboard.press("ArrowRight")
    box.fill("Cats sleep")
    page.keyboard.press("Enter")
    expect(page.get_by_text("“sleep”").first).to_be_visible()  # so the key before it has been answered as well
    expect(page.locator("h3")).to_have_text(first)


def test_a_step_begins_at_its_heading_on_a_phone(server_url, new_page):
    page = new_page(width=390, height=844, has_touch=True, is_mobile=True)
    steps = all_lessons.LESSONS["row"].steps
    page.goto(f"{server_url}/lessons?lesson=row")
    listening(page)
    heading = page.locator("h3")
    for step in steps[1:3]:
        on = page.locator(".st-key-l-next-below button")
        expect(on).to_be_visible()
        on.scroll_into_view_if_needed()
        on.tap()
        expect(heading).to_have_text(step.title)
        answered(page)
        until(lambda: 0 < heading.bounding_box()["y"] < 0.75 * 844)


OWN = b"""title = "Mine"
[[step]]
title = "Two ways"
idea = "Look at the row."
picture = "head"
question = "Which is it?"
answers = ["this", "that"]
right = 2
"""


def test_a_lecturers_file_is_refused_by_its_line_and_opens_once_it_is_mended(server_url, new_page):
    page = new_page()
    page.goto(f"{server_url}/lessons")
    listening(page)
    answered(page)
    page.locator(".st-key-l-lessons button").first.click()
    file = page.locator(".st-key-l-file input[type=file]")
    file.set_input_files({"name": "mine.toml", "mimeType": "text/plain", "buffer": OWN.replace(b'"head"', b'"hed"')})
    expect(page.get_by_text("Line 5")).to_be_visible()
    expect(page.get_by_text("must be one of")).to_contain_text("board")
    file.set_input_files({"name": "mended.toml", "mimeType": "text/plain", "buffer": OWN})
    expect(page.locator("h3")).to_have_text("Two ways")
    page.wait_for_url("**lesson=own*")
    again = new_page()
    again.goto(page.url)
    expect(again.locator("h3")).to_have_text("Two ways")
    expect(again.locator("[class*=st-key-l-answer-] button")).to_have_count(2)
    on = again.locator(
        ".st-key-l-next button p"
    ).first  # there is no other step, and its words can be read all the same
    expect(on).to_be_visible()
    assert on.evaluate("one => getComputedStyle(one).color") != "rgb(255, 255, 255)"


def test_the_last_step_of_all_goes_on_with_the_visitors_sentence_and_shows_what_comes_next(server_url, new_page):
    page = new_page(width=1280, height=720)
    page.goto(f"{server_url}/lessons?lesson=model&step=6")
    chips = page.locator(".sp-token")
    expect(chips.filter(has_text="tired")).to_be_visible(timeout=60_000)
    answered(page)
    likeliest = page.locator(".sp-choice").first
    expect(likeliest).to_be_in_viewport()
    said = page.get_by_text("The token is put after the text").inner_text()
    token = likeliest.locator(".sp-label").inner_text()
    assert token.translate({ord("⏎"): "↵"}) in said, "the token that the words put after the text"
