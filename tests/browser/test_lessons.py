"""Lessons 1 to 3 in a browser: one picture whose marks move on, by keys, by hand and by the wheel; on a phone, too."""

import re

import pytest
from playwright.sync_api import expect

from attnviz.base import words
from attnviz.pages.lessons.panels import open_lesson
from tests.browser.conftest import another_view, answered, resized, still, until

PHONE, LAPTOP = {"width": 390, "height": 844}, {"width": 1440, "height": 900}
PICTURE = ".as-canvas"
STEPS = open_lesson.LESSONS["attention"].steps


def root(page):
    return page.locator(".av-root:has(.as-canvas)")


def stands_at(page, stage):
    expect(root(page)).to_have_attribute("data-stage", stage)


def test_previous_and_next_stand_still_and_dots_in_a_row_open_steps_by_mouse_and_by_keys(opened):
    page = opened("lessons", PICTURE, **LAPTOP)
    heading, dots = page.locator("[data-testid=stMain] h3"), page.locator("[class*=st-key-l-step-] button")
    expect(dots).to_have_count(len(STEPS))
    for window, where, steps, button in ((LAPTOP, "", STEPS, "next"), (PHONE, "-below", STEPS[::-1], "previous")):
        resized(page, **window)
        boxes = [dot.bounding_box() for dot in dots.all()]
        assert len({box["y"] for box in boxes}) == 1
        assert all(24 <= box["width"] <= 32 and 24 <= box["height"] <= 32 for box in boxes)
        places = set()
        for step in steps:
            expect(heading).to_have_text([step.title])
            answered(page)
            boxes = [page.locator(f".st-key-l-{name}{where} button").bounding_box() for name in ("previous", "next")]
            places.add(str(boxes))
            if step is not steps[-1]:
                page.locator(f".st-key-l-{button}{where} button").click()
        assert len(places) == 1
        page.get_by_role("button", name=f"Step 4 of {len(STEPS)}: {STEPS[3].title}").click()
        expect(heading).to_have_text([STEPS[3].title])
        dots.nth(len(STEPS) - 1).press("Enter")
        expect(heading).to_have_text([STEPS[-1].title])


def test_a_word_is_lit_in_picture_and_text_and_another_key_meets_the_query_by_mouse_by_keys_and_by_link(opened):
    page = opened("lessons?lesson=row&step=2", PICTURE, reduced_motion="reduce", **LAPTOP)
    stands_at(page, "scores")
    names, words = ("animal", "it"), page.locator(".stMarkdownColoredText")
    ground = "words => words.map(word => [word.textContent, getComputedStyle(word).backgroundColor])"

    def rows():
        still(page)
        return {name: page.get_by_role("radio", name=name, exact=True).screenshot() for name in names}

    page.mouse.move(5, 5)
    before, plain = rows(), dict(words.evaluate_all(ground))
    for pointed, other in (names, names[::-1]):
        words.filter(has_text=f"“{pointed}”").hover()
        lit = rows()
        assert lit[pointed] == before[pointed]
        assert lit[other] != before[other], "the others step back"
        box = page.get_by_role("radio", name=pointed, exact=True).bounding_box()
        page.mouse.move(5, 5)
        assert rows() == before
        page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + box["height"] / 2)
        until(lambda pointed=pointed: dict(words.evaluate_all(ground))[f"“{pointed}”"] != plain[f"“{pointed}”"])
        lit = {name for name, colour in words.evaluate_all(ground) if colour != plain[name]}
        assert f"“{other}”" not in lit
        page.mouse.move(5, 5)
        until(lambda: dict(words.evaluate_all(ground)) == plain)  # it fades
    page.get_by_role("radio", name="street").click()
    sentence = page.locator(".as-said")
    expect(sentence).to_contain_text("“it” and “street”: 64 products")
    expect(page).to_have_url(re.compile("l_hand="))
    answered(page)
    address = page.url
    page.keyboard.press("ArrowDown")
    expect(sentence).to_contain_text("“because”")
    expect(page).not_to_have_url(address)
    page.reload()
    expect(sentence).to_contain_text("“because”")


@pytest.mark.every_commit
def test_a_step_is_played_on_arrival_and_the_next_goes_on_from_there(opened):
    page = opened("lessons?lesson=row", PICTURE, **LAPTOP)
    canvas = page.locator(PICTURE).element_handle()
    stands_at(page, "roles")
    page.keyboard.press("ArrowRight")
    stands_at(page, "scores")
    expect(root(page)).to_have_attribute("data-at", "1")
    assert page.locator(PICTURE).element_handle().evaluate("(now, before) => now === before", canvas)
    page.keyboard.press("ArrowLeft")
    stands_at(page, "roles")
    page.get_by_role("slider", name="From words").press("Home")
    stands_at(page, "vectors")


def test_the_wheel_moves_the_picture_and_then_the_lesson_where_the_page_has_nothing_to_scroll(opened):
    page = opened("lessons", PICTURE, reduced_motion="reduce", **LAPTOP)
    expect(root(page)).to_have_attribute("data-at", "1", timeout=1000)  # less motion: at the end at once
    page.locator(PICTURE).hover()
    page.wait_for_function("(main => main.scrollHeight <= main.clientHeight + 2)(document.querySelector('.stMain'))")
    page.mouse.wheel(0, -1000)
    stands_at(page, "words")
    page.mouse.wheel(0, 600)
    stands_at(page, "vectors")
    page.evaluate("() => addEventListener('keydown', () => (globalThis.left = true))")
    until(lambda: page.mouse.wheel(0, 400) or page.evaluate("() => globalThis.left"))
    expect(page.locator("[data-testid=stMain] h3")).to_have_text([STEPS[1].title])


def test_the_handle_on_the_scale_changes_weights_at_once_and_is_in_the_link(opened):
    page = opened("lessons?lesson=scaling&step=2", PICTURE, **LAPTOP)
    sentence = page.locator(".as-said")
    expect(sentence).to_contain_text("has 17%")
    page.get_by_role("slider", name="Scores times").press("End")
    expect(sentence).to_contain_text("has >99%")
    expect(page).to_have_url(re.compile("l_hand="))


def test_on_a_phone_the_answer_is_in_view_when_it_is_given(opened):
    page = opened("lessons?lesson=attention&step=5", PICTURE, **PHONE)
    page.locator(".st-key-l-answer-value button").click()
    answer = page.get_by_test_id("stAlert")
    expect(answer).to_contain_text("Computed:")
    still(page)
    box, below = answer.bounding_box(), page.locator(".st-key-l-below").bounding_box()
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= below["y"]


def test_a_worksheet_prints_on_two_pages_in_both_languages_on_both_papers(opened, server_url):
    page = opened("lessons?l_paper=worksheet", ".l-paper", **LAPTOP)
    for language in words.languages():
        for lesson, about in open_lesson.lessons_in(language).items():
            another_view(page, f"{server_url}/lessons?lesson={lesson}&l_paper=worksheet&lang={language}")
            expect(page.locator(".l-paper h1")).to_have_text(about.title)
            for paper in ("A4", "Letter") if language == words.ENGLISH else ("A4",):
                assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(format=paper))) == 2, (lesson, language, paper)


def test_a_worksheet_and_a_plan_are_opened_from_the_lesson_and_lead_back_to_its_step(opened):
    page = opened("lessons?lesson=row&step=2", PICTURE, **LAPTOP)
    for paper in ("worksheet", "plan"):
        page.locator(".st-key-l-lessons button").first.click()
        page.locator(f".st-key-l-{paper} button").click()
        expect(page.locator(".l-paper h1")).to_have_text(open_lesson.LESSONS["row"].title)
        page.locator(".st-key-l-paper-back button").click()
        expect(page.locator("[data-testid=stMain] h3")).to_have_text(open_lesson.LESSONS["row"].steps[1].title)
