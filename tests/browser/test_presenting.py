"""Lessons and the presentation mode: by link and by key, next and previous, light and dark, on a phone, and out."""

import re

import pytest
from playwright.sync_api import expect

from attnviz.pages.lessons.panels import open_lesson
from tests.browser.conftest import GROUND, answered, at_rest, listening, still, until
from tests.browser.picture_first import BAR, small_letters

BACKGROUND = "getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor"
PRESENTER = {"width": 1280, "height": 720, "reduced_motion": "reduce"}
NARROW = {"width": 1024, "height": 768}
STREAMLITS_DARK = "rgb(23, 22, 20)"
STEPS = open_lesson.LESSONS["row"].steps


def is_presented(page, theme):
    expect(page.locator(BAR)).to_be_visible()
    expect(page.locator("[data-testid=stSidebar]")).to_be_hidden()
    expect(page.locator("[data-testid=stHeader]")).to_be_hidden()
    still(page, theme)


@pytest.mark.every_commit
def test_a_lesson_is_walked_by_keys_presented_and_left_and_the_link_follows(opened):
    page = opened("lessons?lesson=row", **PRESENTER)
    heading = page.locator("h3")
    expect(heading).to_have_text([STEPS[0].title])
    for number, step in enumerate(STEPS[1:], 2):
        page.keyboard.press("ArrowRight")
        expect(heading).to_have_text([step.title])
        expect(page).to_have_url(re.compile(rf"lesson=row&step={number}"))
    page.keyboard.press("p")
    is_presented(page, "light")
    assert "present" not in page.url, "who copies the address hands on the ordinary page"
    page.keyboard.press("PageUp")
    expect(heading).to_have_text([STEPS[-2].title])
    page.locator(".stMain").focus()
    page.keyboard.press("Shift")  # a key after a click beside everything: the whole page has the focus, and shows it
    ring = "getComputedStyle(document.querySelector('.stMain'), '::before').boxShadow"
    assert page.evaluate(ring) == "none", "a frame across the picture"
    page.locator(BAR).get_by_role("button", name="Next").click()
    expect(heading).to_have_text([STEPS[-1].title])
    page.evaluate("() => void (globalThis.kept = true)")
    page.locator(BAR).get_by_role("button", name="Dark").click()
    expect(page).to_have_url(re.compile("theme=dark"))
    expect(page.locator(BAR).get_by_role("button", name="Light")).to_be_visible()
    assert page.evaluate("() => globalThis.kept"), "the page was loaded anew"
    expect(heading).to_have_text([STEPS[-1].title])
    expect(page.locator(BAR)).to_be_visible()
    listening(page)
    still(page, "dark")
    page.keyboard.press("Escape")
    expect(page.locator(BAR)).to_be_hidden()
    expect(page.locator("[data-testid=stSidebar]")).to_be_visible()


def test_presses_that_come_while_a_step_is_being_drawn_each_count_and_those_in_the_sentence_stay_there(opened):
    page = opened("lessons?lesson=row")
    heading = page.locator("h3")
    for number in range(2, len(STEPS) + 1):
        page.keyboard.press("ArrowRight")
        page.wait_for_url(re.compile(rf"&step={number}"))  # the step is chosen, and not drawn yet
    expect(heading).to_have_text([STEPS[-1].title])
    for _press in STEPS[1:]:
        page.keyboard.press("ArrowLeft")  # in quick succession
    expect(heading).to_have_text([STEPS[0].title])
    answered(page)
    box = page.get_by_label("Sentence")
    box.click()
    page.keyboard.press("ArrowRight")
    box.fill("Cats sleep")
    page.keyboard.press("Enter")
    expect(page.get_by_text("“sleep”").first).to_be_visible()  # so the key before it has been answered as well
    expect(heading).to_have_text([STEPS[0].title])


@pytest.mark.parametrize(
    "link, then",
    [
        ("build?b_step=project", "b_step=split"),
        ("sharing?", "h_view=count"),
        ("heads?", "hd_by=previous_token"),
        ("fast?fast_section=measured", "fast_section=numerics"),
        ("decoding?d_at=2&d_steps=4", "(?!.*d_at=2)"),
    ],
)
def test_next_goes_on_through_what_a_page_consists_of_light_or_dark(opened, link, then):
    theme = "dark" if len(link) % 2 else "light"
    page = opened(f"{link}&present=1&theme={theme}", dark=theme == "light", **PRESENTER)
    is_presented(page, theme)
    for _press in range(8):  # pictures of a section come before the next section
        if re.search(rf"\?.*{then}", page.url):
            return
        page.keyboard.press("ArrowRight")
        page.evaluate("() => new Promise(requestAnimationFrame)")
        still(page, theme)
    raise AssertionError(page.url)


#: The next drawings of all canvases, with the window's pixels of their letters.
DRAWN = """() => {
  const { prototype } = CanvasRenderingContext2D;
  const [write, font] = [prototype.fillText, Object.getOwnPropertyDescriptor(prototype, "font")];
  window.written = [];
  prototype.fillText = function (text, ...place) {
    const size = parseFloat(/([\\d.]+)px/.exec(font.get.call(this))[1]);
    window.written.push([text, size * (this.canvas.currentCSSZoom ?? 1)]);
    return write.call(this, text, ...place);
  };
}"""


@pytest.mark.parametrize("page_name, numbers", [("decoding", r"%$"), ("born", r"^\d+$"), ("explore", r"^\.\d\d$")])
def test_numbers_on_a_dense_canvas_are_read_from_the_last_row(opened, page_name, numbers):
    page = opened(f"{page_name}?present=1", **PRESENTER)
    still(page)
    page.evaluate(DRAWN)
    page.set_viewport_size({"width": 1279, "height": 720})
    page.wait_for_function(f"written.some(([text]) => /{numbers}/.test(text))")
    sizes = [size for text, size in page.evaluate("written") if re.search(numbers, text)]
    assert min(sizes) >= 17, sizes


#: How far a presented page can be scrolled, and what on it lies below the window or under the bar.
OUT_OF_SIGHT = """() => {
  const main = document.querySelector("[data-testid=stMain]");
  const bar = document.querySelector(".st-key-presenter").getBoundingClientRect().top;
  const within = [...main.querySelectorAll("[data-testid=stElementContainer]")];
  const low = within.filter((one) => !one.closest(".st-key-presenter") && one.getClientRects().length > 0)
    .map((one) => [Math.round(one.getBoundingClientRect().bottom - bar), one.className + one.innerText.slice(0, 60)])
    .filter(([pixels]) => pixels > 0);
  const scrolls = main.scrollHeight - main.clientHeight;
  return [...(scrolls > 0 ? [[scrolls, "scrolls"]] : []), ...low];
}"""


@pytest.mark.parametrize("lesson", open_lesson.LESSONS)
def test_a_presented_step_is_drawn_and_stands_on_one_screen_before_and_after_its_answer(opened, lesson):
    page = opened(f"lessons?lesson={lesson}&present=1", **PRESENTER)

    def all_is_seen(name):
        for _look in range(20):  # a picture that comes late on a busy machine
            still(page)
            if not (low := page.evaluate(OUT_OF_SIGHT)):
                break
        assert low == [], name
        assert small_letters(page) == [], name

    for number, step in enumerate(open_lesson.LESSONS[lesson].steps, 1):
        if number > 1:
            page.keyboard.press("ArrowRight")
        expect(page.locator("h3")).to_have_text([step.title])  # the one before it may stand a moment longer
        answered(page)
        if step.picture.kind == "story":
            story = page.locator(".av-root:has(.as-canvas)")
            expect(story).to_have_attribute("data-stage", step.picture.settings["to"])
        assert page.get_by_text("BidiComponent Error").count() == 0
        assert "&#" not in page.locator(BAR).inner_text(), "what is for Markdown"
        all_is_seen(step.title)
        if step.question is not None:
            page.locator("[class*=st-key-l-answer-] button").first.click()
            expect(page.locator(".st-key-l-again")).to_be_visible()
            all_is_seen(f"{step.title}, answered")


def test_in_a_narrow_room_start_is_read_from_the_last_row_and_a_head_has_no_half_of_its_lines_below_it(opened):
    page = opened("?present=1", **PRESENTER | NARROW)
    still(page)
    said = "one => parseFloat(getComputedStyle(one).fontSize) * one.currentCSSZoom"
    assert page.locator(".rb-said").evaluate(said) >= 28 / 720 * 768
    assert [what for _pixels, what in page.evaluate(OUT_OF_SIGHT) if what != "scrolls"] == []
    page = opened("lessons?lesson=pair&present=1", **PRESENTER | NARROW)
    still(page)
    expect(page.get_by_test_id("heatmap")).to_be_visible()
    expect(page.locator(".av-lines")).to_be_hidden()
    assert page.evaluate(OUT_OF_SIGHT) == []


def test_a_link_s_theme_comes_before_the_first_word_and_presented_cells_are_pointed_at_where_they_are_seen(
    server_url, new_page
):
    page = new_page(**PRESENTER)
    page.goto(f"{server_url}/explore?theme=dark", wait_until="commit")
    page.locator("[data-testid=stApp]").wait_for()
    # Streamlit's own dark stands for a moment, until it is told our colours: dark all the same
    assert page.evaluate(BACKGROUND) in (GROUND["dark"], STREAMLITS_DARK)
    at_rest(page, "[data-testid=heatmap]")
    still(page, "dark")
    page.keyboard.press("ArrowRight")  # walks only what is presented
    page.keyboard.press("p")
    expect(page.locator(BAR)).to_be_visible()
    still(page, "dark")
    assert page.url == f"{server_url}/explore?theme=dark", "a copied address opens the ordinary page"

    heatmap = page.get_by_test_id("heatmap").first
    tokens = len(heatmap.evaluate("stage => stage.tokens()[0]"))
    zoom = heatmap.evaluate("canvas => canvas.currentCSSZoom")
    assert zoom > 1, "a presentation draws larger"

    def point_at(query, key):  # measured each time: what stands above may still come
        box = heatmap.bounding_box()
        left, top, width, height = (zoom * float(edge) for edge in heatmap.get_attribute("data-plot").split(","))
        page.mouse.move(
            box["x"] + left + width * (key + 0.5) / tokens, box["y"] + top + height * (query + 0.5) / tokens
        )
        return page.get_by_test_id("readout").first.inner_text()

    for query, key in ((tokens - 1, 1), (4, 2)):  # in the corner is a handle
        until(lambda query=query, key=key: re.search(rf"\({query}\) → .*\({key}\)", point_at(query, key)))


OWN = b"""title = "Mine"
[[step]]
title = "Two ways"
idea = "Look at the row."
picture = "head"
question = "Which is it?"
answers = ["this", "that"]
right = 2
"""


def test_a_lecturers_file_is_refused_by_its_line_and_opens_once_it_is_mended(opened):
    page = opened("lessons")
    page.locator(".st-key-l-lessons button").first.click()
    file = page.locator(".st-key-l-file input[type=file]")
    file.set_input_files({"name": "mine.toml", "mimeType": "text/plain", "buffer": OWN.replace(b'"head"', b'"hed"')})
    expect(page.get_by_text("Line 5")).to_be_visible()
    expect(page.get_by_text("must be one of")).to_contain_text("board")
    file.set_input_files({"name": "mended.toml", "mimeType": "text/plain", "buffer": OWN})
    expect(page.locator("h3")).to_have_text("Two ways")
    page.wait_for_url("**lesson=own*")
