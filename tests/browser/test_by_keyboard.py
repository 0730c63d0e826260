"""Every component without a mouse and without eyes: Tab comes and goes, keys move, and what is moved to is said."""

import re
from dataclasses import dataclass

import pytest

from attnviz.canvas.shared.component import NAMES
from tests.browser.conftest import answered, listening, until

ACTIVE = """() => {
    let at = document.activeElement;
    while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
    return at;
}"""
IS_ACTIVE = f"one => one === ({ACTIVE})()"
RING = "one => [getComputedStyle(one).outlineStyle, parseFloat(getComputedStyle(one).outlineWidth)]"


@dataclass(frozen=True)
class Stop:
    """A place where Tab stops in a component: where it is, what is pressed there, and what is then heard."""

    component: str
    link: str
    stop: str  #: the element that has the focus
    keys: tuple[str, ...]
    heard: str  #: the element whose words are heard then
    says: str  #: a pattern of these words
    attribute: str = ""  #: in which they are; else they are its text, in a live region
    opens: str = ""  #: a button that opens the box in which the component is
    leaves: str = ""  #: after Escape: what holds in the page, as JavaScript of the element that had the focus


WEIGHT = r"[01]\.\d{4}|< 0\.0001"
PERCENT = r"(?:\d+\.\d|[<>]\d+\.\d)%"
LIVE = "[aria-live]"
STOPS = (
    Stop(
        "head",
        "explore",
        "[data-testid=heatmap]",
        ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight"),
        ".av-sr[role=status]",
        rf"^\S+ \(2\) → \S+ \(1\): (?:{WEIGHT})",
    ),
    Stop(
        "head",
        "explore",
        ".av-chip[tabindex='0']",
        ("ArrowRight", "ArrowRight"),
        ".av-sr[role=status]",
        rf"^\S+ \(2\) looks most at \S+ (?:\(\d+\) )?(?:{WEIGHT}), ",
    ),
    Stop(
        "overview",
        "explore",
        "[data-testid=overview]",
        ("ArrowDown", "ArrowRight"),
        ".av-sr[role=status]",
        r"^Layer \d+, head \d+",
    ),
    Stop(
        "mask",
        "masks",
        "[data-testid=mask]",
        ("ArrowDown", "ArrowDown"),
        ".av-sr[role=status]",
        r"^\S+ \(1\) may look at \S+ \(0\)\. \S+ \(1\) may look at 2 of \d+ keys$",
        leaves="one => one.dataset.at === ''",
    ),
    Stop(
        "tensor_board",
        "build?b_step=softmax&b_mask=causal",
        "[role=gridcell][tabindex='0']",
        ("ArrowDown", "ArrowRight"),
        ".tb-line-out",
        r"\d\.\d",
    ),
    Stop(
        "tensor_strip",
        "build?b_step=scores",
        "[role=tab][aria-selected=true]",
        ("ArrowRight",),
        "[role=tab][aria-selected=true]",
        r"\d+ \S+",
    ),
    Stop(
        "model_strip",
        "explore?open_place=true",
        ".ms-block[tabindex='0']",
        ("ArrowRight", "Enter"),
        ".av-sr[role=status]",
        r"\d+",
    ),
    Stop(
        "rotation_circle",
        "positions?p_section=circle",
        ".rc-range[data-what=q_at]",
        ("ArrowRight", "ArrowRight"),
        ".rc-circle",
        r"q·k over all pairs −?\d",
        attribute="aria-label",
    ),
    Stop(
        "softmax_slider",
        "scaling?s_section=saturation",
        ".ss-row",
        ("ArrowRight", "ArrowRight", "ArrowRight"),
        ".ss-said",
        r"^Key 3:.*weight \d\.\d{6}",
        leaves="one => !one.parentElement.querySelector('.ss-said').textContent.startsWith('Key')",
    ),
    Stop(
        "softmax_slider",
        "scaling?s_section=saturation",
        ".ss-range[data-what=d_k]",
        ("ArrowRight", "ArrowRight"),
        ".ss-range[data-what=d_k]",
        rf"^\d+\. .*largest weight {PERCENT}",
        attribute="aria-valuetext",
    ),
    Stop(
        "step_player",
        "decoding?d_steps=2",
        ".sp-canvas",
        ("ArrowUp", "ArrowUp"),
        ".sp-readout",
        rf"^“.*” gives “.*” {PERCENT} of its attention",
        leaves="one => !one.parentElement.querySelector('.sp-readout').textContent.includes('of its attention')",
    ),
    Stop(
        "cache_growth",
        "decoding?d_view=bytes",
        ".cg-range",
        ("ArrowLeft",),
        ".cg-range",
        r"^[\d,]+ tokens in the cache: .* \d",
        attribute="aria-valuetext",
    ),
    Stop(
        "patch_view",
        "pictures",
        "[data-testid=picture]",
        ("ArrowDown", "ArrowRight"),
        "[data-testid=read]",
        rf"row \d+, column \d+.*{PERCENT}",
    ),
    Stop(
        "patch_view",
        "pictures?pic_stack=words",
        "[data-testid=picture]",
        ("ArrowRight",),
        "[data-testid=read]",
        rf"^From .*{PERCENT}",
    ),
    Stop(
        "digit_pad",
        "pictures?pic_from=draw",
        "[data-testid=pad]",
        ("ArrowLeft", "ArrowUp"),
        ".av-sr[role=status]",
        r"row 16, column 16",
    ),
    Stop("presenter", "lessons?present=1", "[data-does=next]", ("Enter",), ".pr-place", r"^Step 2 of \d"),
    Stop("copy_text", "masks", "[data-copy=embed]", (), "[data-copy=embed]", "^Copy embed code", opens="Share"),
    Stop("save_figure", "masks", "[data-kind]", (), "[data-kind]", "SVG|PNG", opens="Export"),
)
#: Components in which nothing can be moved: what they are is said of the picture.
PICTURES = {"picture": ("sharing", ".st-key-canvas-of-h-three svg[role=img]", r"\d")}


def component_of(page, stop):
    """The component's own root, which holds the element that the focus stops at."""
    return page.locator(f".av-root:has({stop.stop})").first


def said(root, stop):
    heard = root.locator(stop.heard).first
    return heard.get_attribute(stop.attribute) if stop.attribute else heard.text_content()


def opened(page, server_url, link, button=""):
    page.goto(f"{server_url}/{link}")
    listening(page)
    answered(page)
    if button:
        page.get_by_role("button", name=button, exact=True).first.click()


@pytest.mark.parametrize("stop", STOPS, ids=lambda stop: f"{stop.component} {stop.stop}")
def test_tab_comes_and_goes_keys_move_and_what_they_reach_is_heard(server_url, new_page, stop):
    page = new_page(width=1280, height=900)
    opened(page, server_url, stop.link, stop.opens)
    root = component_of(page, stop)
    root.wait_for(timeout=60_000)
    answered(page)
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
    for key in stop.keys:
        page.keyboard.press(key)
    until(lambda: (not stop.keys or said(root, stop) != before) and re.search(stop.says, said(root, stop), re.S), 30)
    if stop.leaves:
        page.keyboard.press("Escape")
        until(lambda: element.evaluate(stop.leaves))
    answered(page)
    here = page.evaluate_handle(ACTIVE)
    page.keyboard.press("Tab")
    assert not here.evaluate(IS_ACTIVE), "Tab goes on"


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_described(server_url, new_page, name):
    link, picture, says = PICTURES[name]
    page = new_page(width=1280, height=900)
    opened(page, server_url, link)
    page.locator(picture).first.wait_for(timeout=60_000)
    for each in page.locator(picture).all():
        assert re.search(says, each.get_attribute("aria-label"))


def test_every_component_is_tried():
    assert {stop.component for stop in STOPS} | set(PICTURES) == set(NAMES)


def test_the_heatmap_says_the_largest_weights_of_the_row_it_comes_to(server_url, new_page):
    page = new_page(width=1280, height=900)
    opened(page, server_url, "explore")
    stage = page.get_by_test_id("heatmap").first
    stage.wait_for(timeout=60_000)
    stage.focus()
    for _press in range(6):
        page.keyboard.press("ArrowDown")
    row = sorted((one for one in stage.evaluate("stage => stage.matrix()[5]") if one is not None), reverse=True)
    live = page.locator(".av-root:has([data-testid=heatmap]) .av-sr[role=status]").first
    until(lambda: "(5)" in live.text_content())
    assert [float(number) for number in re.findall(r"[01]\.\d{4}", live.text_content())][1:] == [
        round(value, 4) for value in row[:3]
    ]


def test_a_choice_among_few_is_one_stop_and_arrows_take_the_next(server_url, new_page):
    page = new_page(width=1280, height=900)
    opened(page, server_url, "explore")
    chosen = page.get_by_role("radio", name="looks at", exact=True)
    chosen.wait_for(timeout=60_000)
    other = page.get_by_role("radio", name="is looked at by")
    assert [one.get_attribute("tabindex") for one in (chosen, other)] == ["0", "-1"]
    chosen.focus()
    page.keyboard.press("ArrowRight")
    assert other.get_attribute("aria-checked") == "true"
    assert other.evaluate(IS_ACTIVE)
    assert [one.get_attribute("tabindex") for one in (chosen, other)] == ["-1", "0"]


def test_a_digit_is_drawn_by_keys(server_url, new_page):
    page = new_page(width=1280, height=900)
    opened(page, server_url, "pictures?pic_from=draw")
    pad = page.get_by_test_id("pad").first
    pad.wait_for(timeout=60_000)
    inked = """pad => pad.getContext("2d").getImageData(0, 0, 32, 32).data.filter((v, i) => i % 4 === 3 && v).length"""
    assert pad.evaluate(inked) == 0
    pad.focus()
    for key in ["ArrowUp", "ArrowUp", " ", *["ArrowDown"] * 8, " "]:
        page.keyboard.press(key)
    page.keyboard.press("Escape")
    until(lambda: pad.evaluate(inked) > 20)
    page.wait_for_url(re.compile("pic_view="))


def films():
    """What a button plays, where it is, and the element whose words change with each picture of it."""
    return [
        ("scaling?s_section=saturation", ".ss-play", ".ss-range[data-what=d_k]"),
        ("decoding?d_view=bytes", ".cg-bar button", ".cg-range"),
        ("positions?p_section=circle", ".rc-walk", ".rc-circle"),
    ]


@pytest.mark.parametrize("link, play, picture", films())
def test_a_film_is_a_few_stills_for_who_asked_for_less_motion(server_url, new_page, link, play, picture):
    page = new_page(width=1280, height=900, reduced_motion="reduce")
    opened(page, server_url, link)
    button = page.locator(play).first
    button.wait_for(timeout=60_000)
    shown = page.locator(picture).first.evaluate_handle("""one => {
        const seen = [];
        const words = () => one.getAttribute("aria-valuetext") ?? one.getAttribute("aria-label");
        const look = () => { if (seen.at(-1) !== words()) seen.push(words()) };
        new MutationObserver(look).observe(one, {attributes: true});
        return seen;
    }""")
    button.click()
    until(lambda: button.text_content() == "▶" and len(shown.json_value()) > 1, 30)
    assert 2 <= len(shown.json_value()) <= 6


def test_nothing_slides_or_fades_for_who_asked_for_less_motion(server_url, new_page):
    page = new_page(width=1280, height=900, reduced_motion="reduce")
    opened(page, server_url, "explore")
    page.get_by_test_id("heatmap").first.wait_for(timeout=60_000)
    slow = """() => {
        const all = (root) => [...root.querySelectorAll("*")].flatMap((one) =>
            [one, ...(one.shadowRoot ? all(one.shadowRoot) : [])]);
        const seconds = (text) => Math.max(...text.split(",").map(parseFloat));
        return all(document).map((one) => [one.className, getComputedStyle(one)]).filter(([, style]) =>
            seconds(style.transitionDuration) > 0.01 || seconds(style.animationDuration) > 0.01 ||
            style.scrollBehavior === "smooth").map(([name]) => String(name));
    }"""
    assert page.evaluate(slow) == []
