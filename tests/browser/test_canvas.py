"""The canvases in a real Chromium: pointing, picking, pinning, zooming and painting, by mouse, keyboard and touch."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.canvas_places import cell, drag, shown, spot_on, tile
from tests.browser.conftest import answered, until, widest

pytestmark = pytest.mark.xdist_group("canvas")

APP = Path(__file__).parent / "apps" / "canvas.py"
DRAWN = """part => [...document.querySelectorAll("*")].some(
    e => e.shadowRoot?.querySelector(`[data-painted] [data-testid=${part}]`))"""


@pytest.fixture
def open_app(servers, new_page):
    """`open_app("?n=14")`: the made-up page, drawn."""

    def opened(query="", **options):
        page = new_page(**options)
        page.goto(servers(APP).url + "/" + query)
        part = "mask" if "what=mask" in query else "heatmap"
        page.get_by_test_id(part).first.wait_for()
        page.wait_for_function(DRAWN, arg=part)
        return page

    return opened


def spot(page, part, across, down):
    """The screen position of a point given as shares of the plot (0 to 1); negative shares lie in the labels."""
    return spot_on(page.get_by_test_id(part).first, across, down)


def readout(page):
    return page.get_by_test_id("readout").first


def zoom(page):
    return float(page.get_by_test_id("heatmap").first.get_attribute("data-zoom").split(",")[0])


def kept(page, count):
    """Wait until Python has heard of a mask that keeps so many of 196 pairs."""
    page.get_by_text(f"kept {count} of 196").wait_for()


def test_tiles_are_chosen_by_mouse_and_keys_and_a_head_seen_before_is_drawn_at_once(open_app):
    page = open_app()
    overview = page.get_by_test_id("overview")
    assert overview.get_attribute("data-selected") == "1,1"
    overview.focus()
    for key in ["ArrowDown", "ArrowRight", "ArrowRight"]:
        page.keyboard.press(key)
    assert page.get_by_text("picked 1,1").is_visible()
    page.keyboard.press("Enter")
    page.get_by_text("picked 2,3").wait_for()
    page.mouse.move(*tile(page, 2 * 9 + 4))
    assert overview.get_attribute("data-at") == "2,4"
    assert page.get_by_text("Heads 3–5 share one key/value head").is_visible()
    page.mouse.click(*tile(page, 2 * 9 + 4))
    page.get_by_text("picked 2,4").wait_for()
    shown(page, "Layer 2, head 4")
    assert overview.get_attribute("data-selected") == "2,4"
    page.mouse.click(*tile(page, 31))
    shown(page, "Layer 3, head 4")
    page.mouse.click(*tile(page, 22))
    assert page.locator(".av-title").text_content() == "Layer 2, head 4", "drawn before Python answers"
    page.get_by_text("picked 2,4").wait_for()
    for number in [0, 10, 31, 22, 40]:
        page.mouse.click(*tile(page, number))
    page.get_by_text("picked 4,4").wait_for()
    shown(page, "Layer 4, head 4")


def test_pointing_reads_a_cell_a_token_is_lit_everywhere_and_pins_reach_python(open_app):
    page = open_app()
    page.mouse.move(*cell(page, 7, 5, 14))
    expect(readout(page)).to_have_text(re.compile(r"^because \(7\) → the \(5\): 0\.\d{4}$"))
    page.mouse.move(*cell(page, 2, 9, 14))
    expect(readout(page)).to_have_text("did (2) may not look at was (9)")
    page.mouse.move(*spot(page, "lines", 0.02, 3.5 / 14))
    expect(page.get_by_role("option").nth(3)).to_have_class(re.compile("av-lit-q"))
    expect(readout(page)).to_have_text(re.compile(r"^not \(3\) looks most at"))
    page.get_by_role("option").nth(5).hover()
    expect(readout(page)).to_have_text(re.compile(r"^the \(5\) looks most at"))
    page.get_by_role("radio", name="is looked at by").click()
    page.get_by_role("option").nth(5).hover()
    expect(readout(page)).to_have_text(re.compile(r"^the \(5\) is looked at most by"))
    page.get_by_role("radio", name="looks at", exact=True).click()
    page.mouse.click(*cell(page, 9, 4, 14))
    page.get_by_text("pins q9 cell (9, 4)").wait_for()
    page.mouse.click(*spot(page, "lines", 0.98, 1.5 / 14))
    page.get_by_text("pins q9 k1 cell (9, 4)").wait_for()
    page.get_by_role("option").nth(12).click()
    page.get_by_text("pins q9 k1 q12").wait_for()
    assert page.get_by_role("option", selected=True).count() == 3
    page.mouse.click(*tile(page, 20))
    page.get_by_text("picked 2,2").wait_for()
    assert page.get_by_text("pins q9 k1 q12").is_visible(), "another head, the same pins"
    assert page.get_by_role("option", selected=True).count() == 3
    page.get_by_role("option").nth(12).focus()
    page.keyboard.press("Escape")
    page.get_by_text("cell None").wait_for()
    assert page.get_by_role("option", selected=True).count() == 0


def test_pins_that_the_page_keeps_start_there_and_follow_quick_clicks(open_app):
    page = open_app("?owned=1")
    assert page.get_by_text("pins q3").is_visible()
    for i in [5, 8, 11]:
        page.get_by_role("option").nth(i).click()
    page.get_by_text("pins q3 q5 q8 q11").wait_for()
    answered(page)
    expect(page.get_by_role("option", selected=True)).to_have_count(4)
    page.keyboard.press("Escape")
    page.get_by_text("pins  cell None").wait_for()


def test_the_heatmap_works_from_the_keyboard_and_is_described(open_app):
    page = open_app()
    expect(page.locator("#help")).to_have_text(re.compile(r"^Strongest pairs: The → The: 1\.0000; "))
    page.get_by_test_id("heatmap").focus()
    for key in ["ArrowDown", "ArrowDown"]:
        page.keyboard.press(key)
    page.get_by_role("option").nth(5).hover()  # as when a page that grows moves a token under a mouse at rest
    expect(readout(page)).to_have_text(re.compile(r"^[^→]+$"))
    for key in ["ArrowDown", "ArrowRight"]:
        page.keyboard.press(key)
    expect(readout(page)).to_have_text(re.compile(r"^did \(2\) → animal \(1\)"))
    page.keyboard.press("Enter")
    page.get_by_text("pins q2 cell (2, 1)").wait_for()
    page.keyboard.press("+")
    page.keyboard.press("+")
    until(lambda: zoom(page) > 1.5)
    page.keyboard.press("0")
    until(lambda: zoom(page) == 1)


def test_a_long_input_zooms_and_pans(open_app):
    page = open_app("?n=1024&layers=1&heads=2&kv=2")
    middle = spot(page, "heatmap", 0.5, 0.5)
    page.mouse.move(*middle)
    page.mouse.wheel(0, 200)
    page.wait_for_function("document.querySelector('[data-testid=stMain]').scrollTop > 0")
    assert zoom(page) == 1, "a plain wheel scrolls the page"
    middle = spot(page, "heatmap", 0.5, 0.5)
    page.mouse.move(*middle)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -400)
    page.keyboard.up("Control")
    until(lambda: zoom(page) > 1.5)
    before = page.get_by_test_id("heatmap").get_attribute("data-zoom")
    page.mouse.down()
    page.mouse.move(middle[0] + 60, middle[1] + 40, steps=3)
    page.mouse.up()
    expect(page.get_by_test_id("heatmap")).not_to_have_attribute("data-zoom", before)
    assert page.get_by_text("cell None").is_visible(), "a drag pins nothing"
    page.get_by_role("button", name="Show the whole picture").click()
    until(lambda: zoom(page) == 1)
    drag(page, spot(page, "heatmap", 0.2, 0.6), spot(page, "heatmap", 0.3, 0.7))
    until(lambda: zoom(page) == pytest.approx(10, rel=0.1))  # a box that is drawn with the mouse then fills the plot


def test_two_fingers_zoom(open_app):
    page = open_app("?n=60", width=390, height=844, has_touch=True)
    x, y = spot(page, "heatmap", 0.5, 0.5)
    wire = page.context.new_cdp_session(page)

    def touch(kind, *spread):
        points = [{"x": x + d, "y": y, "id": i} for i, d in enumerate(spread)]
        wire.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", -20)
    touch("touchStart", -20, 20)
    for d in (35, 50, 65, 80):
        touch("touchMove", -d, d)
    touch("touchEnd")
    until(lambda: zoom(page) == pytest.approx(4, rel=0.15))
    assert page.get_by_text("cell None").is_visible()


def test_tokens_that_look_like_markup_are_shown_as_typed_and_two_sequences_have_a_row_each(open_app):
    page = open_app("?n=13&html=1")
    chips = page.get_by_role("option").all_text_contents()
    assert chips[:4] == ["<img", "src=x", "onerror=alert(1)>", "$x$"]
    assert chips[5] == "<b>bold</b>"
    assert chips[-3:] == ["↵", "␣", "<img"]
    page.get_by_role("option").nth(5).hover()
    expect(readout(page)).to_have_text(re.compile(r"^<b>bold</b> \(5\) looks most at"))
    assert page.locator("b", has_text="bold").count() == 0
    page = open_app("?n=12&cross=1")
    boxes = page.get_by_role("listbox")
    assert [boxes.nth(i).get_by_role("option").count() for i in range(2)] == [12, 7]
    boxes.nth(1).get_by_role("option").nth(3).click()
    page.get_by_text("pins k3 cell None").wait_for()


def test_before_after_and_difference_light_and_pin_together(open_app):
    page = open_app("?what=diff")
    page.mouse.move(*cell(page, 7, 5, 14))
    reading = re.compile(r": [+−<>]* ?\d")
    expect(page.get_by_test_id("readout")).to_have_text([reading, reading, reading])
    reads = page.get_by_test_id("readout").all_text_contents()
    values = [float(text.rsplit(": ", 1)[1].replace("−", "-").strip("<> ")) for text in reads]
    assert values[2] == pytest.approx(values[1] - values[0], abs=2.5e-4)
    page.mouse.click(*cell(page, 7, 5, 14))
    page.get_by_text("pins q7").wait_for()


def test_a_mask_is_painted_by_drags_keys_labels_and_python_and_each_can_be_undone(open_app):
    page = open_app("?what=mask")

    def at(q, k):
        return cell(page, q, k, 14, "mask")

    undo = page.get_by_role("button", name="Undo")
    kept(page, 105)
    page.mouse.move(*at(0, 13))
    page.mouse.down()
    page.mouse.move(*at(0, 4))  # in one leap
    page.mouse.up()
    kept(page, 115)
    drag(page, at(13, 0), at(13, 3))  # paints like its first cell
    kept(page, 111)
    undo.click()
    kept(page, 115)
    page.get_by_role("button", name="Redo").click()
    kept(page, 111)
    page.get_by_role("button", name="window").click()  # Python's replaces the painted one
    kept(page, 39)
    for before in (111, 115, 105):
        undo.click()
        kept(page, before)
    page.get_by_test_id("mask").focus()
    page.keyboard.press("Home")
    page.mouse.move(*at(0, 0))
    for key in ["ArrowRight", "ArrowRight", " ", "Shift+ArrowRight", "Shift+ArrowRight"]:
        page.keyboard.press(key)
    kept(page, 108)
    expect(readout(page)).to_have_text(re.compile(r"^The \(0\) may look at \w+ \(\d\)"))
    page.keyboard.press("Control+z")
    kept(page, 107)
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    kept(page, 105)
    page.mouse.click(*spot(page, "mask", 0.5 / 14, -0.02))  # a label switches its column
    kept(page, 91)
    assert page.get_by_test_id("count").text_content() == "The mask keeps 91 of 196 pairs"


def test_on_a_phone_nothing_is_wider_than_the_screen_and_a_finger_pins_and_paints(open_app):
    page = open_app("?n=40&layers=30", width=390, height=844, dark=True, has_touch=True)

    def blue():  # Q's colour on a light or a dark background
        return page.get_by_test_id("heatmap").evaluate("e => getComputedStyle(e).getPropertyValue('--av-q')")

    assert widest(page) <= 390
    for part in ["heatmap", "lines"]:
        box = page.get_by_test_id(part).bounding_box()
        assert box["x"] + box["width"] <= 390
    page.touchscreen.tap(*cell(page, 20, 3, n=40))
    page.get_by_text("cell (20, 3)").wait_for()
    assert blue() == "rgb(89,163,205)"
    page.emulate_media(color_scheme="light")
    until(lambda: blue() == "rgb(0,114,178)")  # the canvas follows a change of theme at once
    page = open_app("?what=mask", width=390, height=844, has_touch=True)
    page.touchscreen.tap(*cell(page, 0, 6, 14, "mask"))
    kept(page, 106)


def test_what_runs_off_the_screen_is_noticed(new_page):
    """Streamlit's main part scrolls: the document says nothing of what is wide in it."""
    page = new_page(width=390, height=844)
    page.set_content("<div data-testid=stMain style='overflow: auto'><div style='width: 600px'>wide</div></div>")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert widest(page) == 600
