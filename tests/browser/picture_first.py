"""Where a page's picture lies: high on the first screen, above what changes it; presented, it fills the room."""

from typing import Any

from playwright.sync_api import expect

from tests.browser.conftest import still, until, widest

PICTURE = ".st-key-canvas-of-heads, [data-main-picture], .st-key-main-picture"  # Explore's: all heads and one
#: pages of words, sections that are a table, and places where none is drawn yet
OF_WORDS = {
    "glossary",
    "pictures?pic_from=own",
}
BAR = "[role=toolbar][aria-label=Presentation]"
#: the window, how far down the picture may begin below words that are 40% longer, and what part of it is seen at least
LOWEST = {(1280, 720): (300, 1 / 2), (390, 844): (520, 1 / 3)}
#: before and after a page is presented: what canvases write meanwhile is cut elsewhere, and no word of the view
_ASIDE = "() => { globalThis.heldWords = globalThis.drawnWords; globalThis.drawnWords = new Set() }"
_BACK = "() => { globalThis.drawnWords = globalThis.heldWords }"
#: Of a presented page: whether something stands above the main picture or it ends high above the bar, and what of it
#: lies under the bar, is a low chart, is words under a chart, or lies across the bar.
_OUT_OF_ROOM = """() => {
  const main = document.querySelector(".st-key-main-picture")?.getBoundingClientRect();
  if (!main) return { absent: true };
  const bar = document.querySelector(".st-key-presenter").getBoundingClientRect().top;
  const charts = [...document.querySelectorAll(".st-key-main-picture .js-plotly-plot")]
    .filter((chart) => chart.checkVisibility()).map((chart) => chart.getBoundingClientRect());
  const words = [...document.querySelectorAll(".st-key-main-picture [data-testid=stMarkdownContainer]")]
    .map((each) => each.getBoundingClientRect());
  const under = words.filter((word) => charts.some((chart) =>
    Math.min(chart.right, word.right) - Math.max(chart.left, word.left) > 4 &&
    Math.min(chart.bottom, word.bottom) - Math.max(chart.top, word.top) > 4));
  const boxes = [...document.querySelectorAll(".st-key-main-picture .stBidiComponent")]
    .map((each) => each.getBoundingClientRect());
  return {
    high: main.top < 0 || main.top > 20, short: main.bottom < bar - 30,
    low: charts.filter(({bottom}) => bottom > bar).length, small: charts.filter(({height}) => height < 150).length,
    under: under.length, across: boxes.filter(({top, bottom}) => top < bar && bottom > bar + 2).length,
  };
}"""

#: What pictures say, and names and numbers of charts, with the pixels of their letters
#: where they are too small to be read from the last row.
_SMALL_LETTERS = """() => {
  const all = (root) => [...root.querySelectorAll("*")]
    .flatMap((one) => [one, ...(one.shadowRoot ? all(one.shadowRoot) : [])]);
  const here = all(document);
  const size = (one) => Math.round(parseFloat(getComputedStyle(one).fontSize) * (one.currentCSSZoom ?? 1));
  const isWritten = (one) => one.getRootNode() !== document && !one.closest(".av-sr, .av-words") &&
    !one.getRootNode().host.closest(".st-key-presenter") &&
    [...one.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim());
  const small = (what, least, such = () => true) => here
    .filter((one) => one.matches(what) && such(one) && one.checkVisibility() && one.textContent.trim() &&
      size(one) < least)
    .map((one) => `${size(one)}: ${one.textContent.slice(0, 40)}`);
  const text = "[data-testid=stMarkdownContainer] p";
  const step = ":is(.st-key-l-story, .st-key-l-step, .st-key-l-film)";
  return [
    ...small(`[class*=-under] ${text}, [class*=st-key-picture-of-] ${text}`, 28),
    ...small(`${step} :is(h3, p):not([data-testid=stCaptionContainer] p)`, 28),
    ...small(":is(.as-said, .av-head > .av-said, .rb-said, .sp-said, .tf-said, .tf-race)", 28),
    ...small(":is(.xtick, .ytick, .cbaxis) text", 20),
    ...small("*", 20, isWritten),
  ];
}"""


def is_a_picture(view: str) -> bool:
    """Whether a view opens with a picture, unpresented."""
    return view not in OF_WORDS and not view.startswith("lessons") and "present=1" not in view


def begins_low(page: Any, size: tuple[int, int]) -> list[str]:
    """What is wrong with where the picture begins and how much of it is seen."""
    picture, (_width, height), (lowest, part) = page.locator(PICTURE).first, size, LOWEST[size]
    expect(picture).to_be_visible()
    place = picture.bounding_box()
    seen = min(height, place["y"] + place["height"]) - place["y"]
    if place["y"] <= lowest and seen >= min(place["height"], height) * part:
        return []
    return [f"picture begins at {place['y']:.0f}, {place['height']:.0f} high"]


def small_letters(page: Any) -> list[str]:
    """What a presented page says in letters that are not read from the last row."""
    return [f"presented in small letters, {each}" for each in page.evaluate(_SMALL_LETTERS)]


def out_of_room(page: Any, theme: str) -> list[str]:
    """What does not stand in the room of the page, which is presented for a moment."""
    bar = page.locator(".st-key-presenter [role=toolbar]")
    page.evaluate(_ASIDE)
    page.keyboard.press("p")
    expect(bar).to_be_visible()
    still(page, theme)
    try:
        until(lambda: not any(page.evaluate(_OUT_OF_ROOM).values()))
        wrong = []
    except AssertionError:
        wrong = [f"presented: {page.evaluate(_OUT_OF_ROOM)}"]
    wrong += small_letters(page)
    if (wide := widest(page)) > page.viewport_size["width"]:
        wrong.append(f"wide, presented: {wide}")
    until(lambda: page.keyboard.press("Escape") or bar.is_hidden())  # a key is not heard while the page is made anew
    expect(bar).to_be_hidden()
    still(page, theme)
    page.evaluate(_BACK)
    return wrong
