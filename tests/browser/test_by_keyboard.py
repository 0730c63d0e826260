"""Every component without a mouse and without eyes, for who asked for less motion.

Tab comes and goes, keys move, what is moved to is said, nothing slides, and a film is a few stills.
"""

import io
import re
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import pytest
from PIL import Image

from tests.browser.conftest import resized, still, until

ACTIVE = """() => {
    let at = document.activeElement;
    while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
    return at;
}"""
IS_ACTIVE = f"one => one === ({ACTIVE})()"
RING = "one => [getComputedStyle(one).outlineStyle, parseFloat(getComputedStyle(one).outlineWidth)]"
#: What slides or fades on the page.
MOVING = """() => {
    const all = (root) => [...root.querySelectorAll("*")].flatMap((one) =>
        [one, ...(one.shadowRoot ? all(one.shadowRoot) : [])]);
    const seconds = (text) => Math.max(...text.split(",").map(parseFloat));
    return all(document).map((one) => [one.className, getComputedStyle(one)]).filter(([, style]) =>
        seconds(style.transitionDuration) > 0.01 || seconds(style.animationDuration) > 0.01 ||
        style.scrollBehavior === "smooth").map(([name]) => String(name));
}"""


@dataclass(frozen=True)
class Stop:
    """A place where Tab stops in a component: where it is, what is pressed there, and what is then heard."""

    link: str
    stop: str  #: the element that has the focus
    keys: str  #: by blanks
    says: str  #: a pattern of the words that are heard then
    heard: str = ".av-sr[role=status]"  #: the element whose words they are, in a live region
    attribute: str = ""  #: in which they are; else they are its text
    opens: str = ""  #: a button that opens the box in which the component is
    leaves: str = ""  #: after Escape: what holds in the page, as JavaScript of the element that had the focus


WEIGHT = r"[01]\.\d{4}|< 0\.0001"
PERCENT = r"(?:\d+\.\d|[<>]\d+\.\d)%"
EXPLORE, BOARD, DECODING = "explore?open_place=true", "build?b_step=softmax&b_mask=causal", "decoding?d_steps=2"
BORN = "born?born_at=103"
DIAL, BARS, CACHES = "positions", "scaling?s_section=alternatives", "decoding?d_view=bytes"
ROW, CHOSEN = "[data-testid=heatmap]", "[role=tab][aria-selected=true]"
STOPS = (
    Stop(EXPLORE, ROW, "Down Down Down Right", rf"^\S+ \(2\) → \S+ \(1\): (?:{WEIGHT})"),
    Stop(EXPLORE, ROW, "Left Left", rf"^\S+ \(2\) looks most at \S+ (?:\(\d+\) )?(?:{WEIGHT}), "),
    Stop(EXPLORE, "[data-testid=overview]", "Down Right", r"^Layer \d+, head \d+"),
    Stop(EXPLORE, ".ms-block[tabindex='0']", "Right Enter", r"\d+"),
    Stop("masks", "[data-testid=mask]", "Down Down",
         r"^\S+ \(1\) may look at \S+ \(0\)\. \S+ \(1\) may look at 2 of \d+ keys$",
         leaves="one => one.dataset.at === ''"),
    Stop("masks", "[data-copy=embed]", "", "^Copy embed code", "[data-copy=embed]", opens="Share"),
    Stop("masks", "[data-kind]", "", "SVG|PNG", "[data-kind]", opens="Save"),
    Stop(BOARD, "[role=gridcell][tabindex='0']", "Down Right", r"\d\.\d", ".tb-line-out"),
    Stop(BOARD, CHOSEN, "Right", r"\d+ \S+", CHOSEN),
    Stop(DIAL, ".wd-row[aria-pressed=true]", "Alt+ArrowUp", r"^“it” looks most at “street”, 1 place ", ".wd-said"),
    Stop(DIAL, ".wd-pairs", "Right Right", r"^Pair 2: 27\.9° for each place", ".wd-pairs", "aria-valuetext"),
    Stop(BARS, ".ss-row", "Right Right Right", r"^Key 3:.*weight \d\.\d{6}", ".ss-said",
         leaves="one => !one.parentElement.querySelector('.ss-said').textContent.startsWith('Key')"),
    Stop(BARS, ".ss-range[data-what=d_k]", "Right Right", rf"^\d+\. .*largest weight {PERCENT}",
         ".ss-range[data-what=d_k]", "aria-valuetext"),
    Stop(DECODING, ".sp-canvas", "Up Up", rf"^“.*” gives “.*” {PERCENT} of its attention", ".sp-readout",
         leaves="one => !one.parentElement.querySelector('.sp-readout').textContent.includes('of its attention')"),
    Stop(DECODING, ".cg-range", "Left", r"^Step 1 of 2\. Keys and values computed so far: ",
         ".cg-range", "aria-valuetext"),
    Stop(CACHES, ".cg-range", "Left", r"^[\d,]+ tokens in the cache: .* \d", ".cg-range", "aria-valuetext"),
    Stop("sharing", ".av-slider-range", "Right", r"^GQA\. 32 query heads on 4 K/V heads\. 512 MiB",
         ".av-slider-range", "aria-valuetext"),
    Stop("compare", ".sr-goal", "Left Left", r"^From the first of 19 words .* takes 18 steps .*, 9 in", ".sr-said"),
    Stop("compare", ".sr-bar .av-slider-range", "Home Right Right", r"^step 2 of 18$",
         ".sr-bar .av-slider-range", "aria-valuetext"),
    Stop("glossary", "[data-term][tabindex='0']", "Right Right", r"^attention$", ".gw-name",
         leaves="one => one.getRootNode().querySelector('.gw-card').hidden"),
    Stop("fast", ".tf-tile", "Down", r"^Query \d+: .* \d", ".tf-readout"),
    Stop("pictures", "[data-testid=picture]", "Down Right", rf"row \d+, column \d+.*{PERCENT}", "[data-testid=read]"),
    Stop("pictures?pic_stack=words", "[data-testid=picture]", "Right", rf"^From .*{PERCENT}", "[data-testid=read]"),
    Stop(BORN, ".av-slider-range", "Right Right", r"^Step 117: \d of 5 words", ".av-slider-range", "aria-valuetext"),
    Stop(BORN, ".bi-tile", "Enter", "silenced", ".bi-tile"),
    Stop("?lang=en", ".rb-word[tabindex='0']", "Left", r"^“because” becomes a mixture: "),
    Stop("?lang=en", ".rb-dots", "Right Up", r"^layer 15, head 0$", ".rb-dots", "aria-valuetext"),
    Stop("why", ".lf-canvas", "Right", r"^\d+\.\d adds \d\.\d+ for “", ".lf-said",
         leaves="one => !one.getRootNode().querySelector('.lf-said').textContent.includes(' adds ')"),
    Stop("mistakes?mistake=fill", ".cl-line", "Down Down Down Enter", "^Yes, line 4: ", ".cl-said"),
    Stop("pictures?pic_from=draw", "[data-testid=picture]", "Left Up", r"row 16, column 16"),
    Stop("lessons?present=1", "[data-does=next]", "Enter", r"^Step 2 of \d", ".pr-place"),
)  # fmt: skip
VISITS = {link: list(stops) for link, stops in groupby(STOPS, lambda stop: stop.link)}
ARROWS = {"Down", "Up", "Left", "Right"}


def said(root, stop):
    heard = root.locator(stop.heard).first
    return heard.get_attribute(stop.attribute) if stop.attribute else heard.text_content()


def stops_at(page, stop):
    if stop.opens:
        page.get_by_role("button", name=stop.opens, exact=True).first.click()
    root = page.locator(f".av-root:has({stop.stop})").first
    root.locator(stop.stop).first.focus()
    element = root.locator(stop.stop).first.element_handle()
    page.keyboard.press("Shift+Tab")
    assert not element.evaluate(IS_ACTIVE), "Shift+Tab goes out"
    page.keyboard.press("Tab")
    assert element.evaluate(IS_ACTIVE), "Tab comes in"
    line, width = element.evaluate(RING)
    assert line != "none", "what has the focus is seen"
    assert width >= 1
    before = said(root, stop)
    for key in stop.keys.split():
        page.keyboard.press(f"Arrow{key}" if key in ARROWS else key)
    until(lambda: (not stop.keys or said(root, stop) != before) and re.search(stop.says, said(root, stop), re.S), 30)
    if stop.leaves:
        page.keyboard.press("Escape")
        until(lambda: element.evaluate(stop.leaves))
    still(page)  # nothing that has the focus is drawn anew
    here = page.evaluate_handle(ACTIVE)
    page.keyboard.press("Tab")
    assert not here.evaluate(IS_ACTIVE), "Tab goes on"
    if stop.opens:
        page.keyboard.press("Escape")
        page.locator("[data-testid=stPopoverBody]").first.wait_for(state="detached")


@pytest.mark.parametrize("link", VISITS)
def test_tab_comes_and_goes_keys_move_and_what_they_reach_is_heard(opened, link):
    stops = VISITS[link]
    drawn = [stop.stop for stop in stops if not stop.opens]
    page = opened(link, *drawn, width=1280, height=900, reduced_motion="reduce")
    still(page)
    assert page.evaluate(MOVING) == []
    for stop in stops:
        stops_at(page, stop)
    if link in MORE:
        MORE[link](page)


#: What is seen of an element that has the focus: the handle of a slider, a switch with its words, else all of it.
SEEN = """one => {
    one.scrollIntoView({block: "center"});
    const {x, y, width, height} = (one.closest("[data-testid=stCheckbox] label") ??
        one.closest("[data-testid=stSlider] div:has(> div > input)") ?? one).getBoundingClientRect();
    const kind = one.closest("[data-testid]")?.dataset.testid ?? one.className;
    return {kind: `${one.tagName} ${kind}`, x, y, width, height};
}"""


def luminances(page, box):
    """Of the pixels in and around a box, by the formula of WCAG 2."""
    left, top = max(0, box["x"] - 6), max(0, box["y"] - 6)
    size = page.viewport_size
    right = min(size["width"], box["x"] + box["width"] + 6)
    low = min(size["height"], box["y"] + box["height"] + 6)
    picture = page.screenshot(clip={"x": left, "y": top, "width": right - left, "height": low - top})
    channels = np.asarray(Image.open(io.BytesIO(picture)).convert("RGB")) / 255
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4) @ [
        0.2126,
        0.7152,
        0.0722,
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_tab_comes_to_is_seen(opened, theme):
    """Of every kind of control: as many pixels as its edge has change by 3:1 when it has the focus."""
    kinds, faint = set(), []
    for link in ("", "scaling", "lessons", "explore"):
        page = opened(link, dark=theme == "dark", reduced_motion="reduce")
        still(page, theme)
        for _press in range(60):
            page.keyboard.press("Tab")
            focused = page.evaluate_handle(ACTIVE)
            box = focused.evaluate(SEEN)
            if box["kind"].startswith("BODY"):
                break
            if box["kind"] in kinds:
                continue
            kinds.add(box["kind"])
            still(page, theme)
            box = focused.evaluate(SEEN)
            with_it = luminances(page, box)
            focused.evaluate("one => one.blur()")
            without = luminances(page, box)
            focused.evaluate("one => one.focus()")
            ratio = (np.maximum(with_it, without) + 0.05) / (np.minimum(with_it, without) + 0.05)
            if np.sum(ratio >= 3) < 1.4 * (box["width"] + box["height"]):  # round corners are shorter than the edge
                faint.append(box["kind"])
    assert len(kinds) > 12
    assert faint == []


def film(play, picture):
    """What a button plays is a few stills: the words of a picture change as often."""

    def plays(page):
        shown = page.locator(picture).first.evaluate_handle("""one => {
            const seen = [];
            const words = () => one.getAttribute("aria-valuetext") ?? one.getAttribute("aria-label");
            const look = () => { if (seen.at(-1) !== words()) seen.push(words()) };
            new MutationObserver(look).observe(one, {attributes: true});
            return seen;
        }""")
        button = page.locator(play).first
        button.click()
        until(lambda: button.text_content() == "▶" and len(shown.json_value()) > 1, 30)
        assert 2 <= len(shown.json_value()) <= 8

    return plays


#: what else is looked at where the stops of a page have been
MORE = {
    BARS: film(".ss-play", ".ss-range[data-what=d_k]"),
    CACHES: film(".cg-bar button", ".cg-range"),
    DIAL: film(".wd-bar button", ".wd-bar .av-slider-range"),
}


def test_the_words_of_a_page_do_not_lie_over_its_picture(opened):
    page = opened("masks", reduced_motion="reduce")
    for width in (1280, 390):
        resized(page, width, 800)
        page.get_by_role("button", name="Words", exact=True).click()
        page.locator("[data-testid=stPopoverBody] [class*=st-key-see-]").first.wait_for()
        words, picture = (
            page.locator(place).first.bounding_box()
            for place in ("[data-testid=stPopoverBody]", ".st-key-main-picture")
        )
        beside = words["x"] + words["width"] <= picture["x"] + 1
        assert beside or words["y"] >= 0.4 * 800, (words, picture)
        page.keyboard.press("Escape")
