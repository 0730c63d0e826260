"""The presentation mode in a real browser: by link and by key, next and previous, light and dark, and out again."""

import re
from itertools import cycle

import pytest
from playwright.sync_api import expect

from attnviz.pages.lessons.panels import all_lessons
from attnviz.serve import page_table
from tests.browser.conftest import answered, listening, until

PAGES = tuple("" if row.is_home else row.name for row in page_table.PAGES)
BAR = "[role=toolbar][aria-label=Presentation]"
BACKGROUND = "getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor"
LIGHT, DARK = "rgb(255, 255, 255)", "rgb(20, 22, 28)"
#: Until the page has not been scrolled for thirty frames: a picture that next goes to has arrived.
STANDS = """new Promise((then) => {
  const main = document.querySelector("[data-testid=stMain]");
  let [last, still] = [main.scrollTop, 0];
  const look = () => {
    still = main.scrollTop === last ? still + 1 : 0;
    last = main.scrollTop;
    if (still > 30) then();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})"""
STREAMLITS_DARK = "rgb(23, 22, 20)"


def begin(page, url):
    page.goto(url)
    listening(page)
    answered(page)


@pytest.mark.every_commit
def test_a_lesson_is_presented_by_a_key_walked_and_left(server_url, new_page):
    page = new_page(width=1280, height=720)
    steps = all_lessons.LESSONS["row"].steps
    begin(page, f"{server_url}/lessons?lesson=row")
    page.keyboard.press("p")
    expect(page.locator(BAR)).to_be_visible()
    expect(page.locator("[data-testid=stSidebar]")).to_be_hidden()
    expect(page).to_have_url(re.compile("present=1"))
    page.keyboard.press("PageDown")
    expect(page.locator("h3")).to_have_text(steps[1].title)
    page.locator(".stMain").focus()
    page.keyboard.press("Shift")  # a key after a click beside everything: the whole page has the focus, and shows it
    ring = "getComputedStyle(document.querySelector('.stMain'), '::before').boxShadow"
    assert page.evaluate(ring) == "none", "a frame across the picture"
    page.locator(BAR).get_by_role("button", name="Next").click()
    expect(page.locator("h3")).to_have_text(steps[2].title)
    page.locator(BAR).get_by_role("button", name="Dark").click()
    expect(page).to_have_url(re.compile("theme=dark"))
    expect(page.locator("h3")).to_have_text(steps[2].title)  # the view is opened again, in the same place
    expect(page.locator(BAR)).to_be_visible()
    listening(page)
    assert page.evaluate(BACKGROUND) == DARK
    page.keyboard.press("Escape")
    expect(page.locator(BAR)).to_be_hidden()
    expect(page.locator("[data-testid=stSidebar]")).to_be_visible()
    expect(page).not_to_have_url(re.compile("present"))


def test_presses_in_quick_succession_all_count(server_url, new_page):
    page = new_page()
    steps = all_lessons.LESSONS["row"].steps
    begin(page, f"{server_url}/lessons?lesson=row")
    for _press in range(4):
        page.keyboard.press("ArrowRight")
    expect(page.locator("h3")).to_have_text(steps[4].title, timeout=30_000)
    for _press in range(3):
        page.keyboard.press("ArrowLeft")
    expect(page.locator("h3")).to_have_text(steps[1].title, timeout=30_000)
    expect(page).to_have_url(re.compile("step=2"))


@pytest.mark.parametrize("name, theme", [*zip(PAGES, cycle(["dark", "light"]), strict=False)])
def test_every_page_can_be_presented_by_its_link_light_or_dark(server_url, new_page, name, theme):
    page = new_page(width=1280, height=720, dark=theme == "light")
    begin(page, f"{server_url}/{name}?present=1&theme={theme}")
    expect(page.locator(BAR)).to_be_visible()
    expect(page.locator("[data-testid=stSidebar]")).to_be_hidden()
    expect(page.locator("[data-testid=stHeader]")).to_be_hidden()
    assert page.evaluate(BACKGROUND) == {"dark": DARK, "light": LIGHT}[theme]
    assert page.evaluate("parseFloat(getComputedStyle(document.documentElement).fontSize)") > 16
    assert page.locator("[data-testid=stMain]").evaluate("main => main.scrollWidth <= main.clientWidth")


@pytest.mark.parametrize(
    "link, then",
    [
        ("build?present=1&b_step=project", "b_step=split"),
        ("sharing?present=1", "h_view=count"),
        ("heads?present=1", "hd_by=previous_token"),
        ("compare?present=1&c_section=measured", "c_section=reach"),
        ("decoding?present=1&d_at=2&d_steps=4", "(?!.*d_at=2)"),
    ],
)
def test_next_goes_on_through_what_a_page_consists_of(server_url, new_page, link, then):
    page = new_page(width=1280, height=720)
    begin(page, f"{server_url}/{link}")
    for _press in range(8):  # pictures of a section come before the next section
        if re.search(rf"\?.*{then}", page.url):
            return
        page.keyboard.press("ArrowRight")
        page.evaluate(STANDS)
        answered(page)
    raise AssertionError(page.url)


#: Until the page has been as high as it is for thirty frames.
GROWN = STANDS.replace("scrollTop", "scrollHeight")
#: How far a presented page can be scrolled, and what on it lies below the window or under the bar.
OUT_OF_SIGHT = """() => {
  const main = document.querySelector("[data-testid=stMain]");
  const bar = document.querySelector(".st-key-presenter-place").getBoundingClientRect().top;
  const within = [...main.querySelectorAll("[data-testid=stElementContainer]")];
  const low = within.filter((one) => !one.closest(".st-key-presenter-place") && one.getClientRects().length > 0)
    .map((one) => [Math.round(one.getBoundingClientRect().bottom - bar), one.className + one.innerText.slice(0, 60)])
    .filter(([pixels]) => pixels > 0);
  const scrolls = main.scrollHeight - main.clientHeight;
  return [...(scrolls > 0 ? [[scrolls, "scrolls"]] : []), ...low];
}"""


@pytest.mark.parametrize("lesson", all_lessons.LESSONS)
def test_a_presented_step_stands_on_one_screen_before_and_after_its_answer(server_url, new_page, lesson):
    page = new_page(width=1280, height=720)

    def all_is_seen(name):
        listening(page)
        answered(page)
        page.wait_for_function("!document.querySelector('[data-testid=stSkeleton]')")
        page.evaluate(GROWN)
        for _look in range(20):  # a picture that comes late on a busy machine
            if not page.evaluate(OUT_OF_SIGHT):
                return
            page.evaluate(GROWN)
        assert page.evaluate(OUT_OF_SIGHT) == [], name

    for number, step in enumerate(all_lessons.LESSONS[lesson].steps, 1):
        page.goto(f"{server_url}/lessons?lesson={lesson}&step={number}&present=1")
        expect(page.locator("h3")).to_have_text(step.title)
        all_is_seen(step.title)
        if step.question is not None:
            page.locator("[class*=st-key-l-answer-] button").first.click()
            expect(page.locator(".st-key-l-again")).to_be_visible()
            all_is_seen(f"{step.title}, answered")


def test_arrows_do_not_walk_a_page_that_is_not_presented(server_url, new_page):
    page = new_page()
    begin(page, f"{server_url}/scaling")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("p")
    expect(page.locator(BAR)).to_be_visible()
    expect(page.locator(BAR)).to_contain_text("1 / 7")


def test_the_theme_of_a_link_is_there_before_the_first_word(server_url, new_page):
    page = new_page()
    page.goto(f"{server_url}/scaling?theme=dark", wait_until="commit")
    page.locator("[data-testid=stApp]").wait_for()
    # Streamlit's own dark stands for a moment, until it is told our colours: dark all the same
    assert page.evaluate(BACKGROUND) in (DARK, STREAMLITS_DARK)
    listening(page)
    assert page.evaluate(BACKGROUND) == DARK


def test_a_cell_is_pointed_at_where_it_is_seen(server_url, new_page):
    page = new_page(width=1280, height=720)
    begin(page, f"{server_url}/?present=1")

    heatmap = page.get_by_test_id("heatmap").first
    heatmap.wait_for()
    tokens = page.locator(".av-root [role=option]").count()  # its chips; a select's own options carry no role
    zoom = heatmap.evaluate("canvas => canvas.currentCSSZoom")
    assert zoom > 1, "a presentation draws larger"

    def point_at(query, key):  # measured each time: what stands above may still come
        box = heatmap.bounding_box()
        left, top, width, height = (zoom * float(edge) for edge in heatmap.get_attribute("data-plot").split(","))
        page.mouse.move(
            box["x"] + left + width * (key + 0.5) / tokens, box["y"] + top + height * (query + 0.5) / tokens
        )
        return page.get_by_test_id("readout").first.inner_text()

    for query, key in ((tokens - 1, 0), (4, 2)):
        until(lambda query=query, key=key: re.search(rf"\({query}\) → .*\({key}\)", point_at(query, key)))
