"""The explorer in a real Chromium: typing, picking, pinning, links, exports, markup as typed."""

import csv
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.canvas_places import cell_on, tile_on
from tests.browser.conftest import answered, opens, until
from tests.browser.saving import saved_in
from tests.browser.slow_line import Line

Open = Callable[..., Any]
HEAD = "attnviz-head-painted"
LONG_TOKEN = 65 * "="


explore = opens("explore", "[data-testid=heatmap]", "[data-testid=overview][data-tiles*='[']")


def title(page: Any) -> str:
    return page.locator(".av-title").first.text_content()


def picture(page: Any) -> bytes:
    return page.get_by_test_id("heatmap").first.screenshot()


def cell(page: Any, q: int, k: int, n: int) -> tuple[float, float]:
    return cell_on(page.get_by_test_id("heatmap").first, q, k, n)


def tile(page: Any, number: int) -> tuple[float, float]:
    return tile_on(page.get_by_test_id("overview"), number)


def type_sentence(page: Any, text: str) -> None:
    area = page.get_by_label("Sentence", exact=True)
    area.fill(text)
    area.press("Control+Enter")
    chips = page.locator(".av-chips [role=option]")
    until(lambda: set("".join(chips.all_text_contents())) - set("↵⏎⇥␣") == set(text) - {" "}, seconds=60)
    answered(page)


def test_a_sentence_is_read_when_one_leaves_it_and_nothing_asks_for_a_key(explore: Open) -> None:
    page = explore()
    before = picture(page)
    area = page.get_by_label("Sentence", exact=True)
    area.click()
    area.press("End")
    page.keyboard.type(" Now")
    asked = page.get_by_text("Ctrl+Enter")
    asked.first.wait_for(state="attached")  # as Streamlit has it in the page once a text has changed
    expect(asked.filter(visible=True)).to_have_count(0)
    assert picture(page) == before
    page.get_by_role("heading", level=1).first.click()
    until(lambda: picture(page) != before, seconds=60)
    page.wait_for_url("**text=*Now*")


def test_typing_changes_the_picture(explore: Open) -> None:
    page = explore()
    before = picture(page)
    type_sentence(page, "A cat sat on the mat because it was tired")
    until(lambda: picture(page) != before)
    page.wait_for_url("**text=A*")


#: Notes each thing on the page that fades while the page's script runs, and how: in steps, or anew in every frame.
FADING = """
window.fading = {};
const look = () => {
  for (const moving of document.getAnimations()) {
    const { target } = moving.effect;
    if (!moving.transitionProperty || !target.closest("[data-testid=stMain]")) continue;
    const easing = [moving.effect.getTiming(), ...moving.effect.getKeyframes()].map((each) => each.easing);
    const key = target.closest("[class*=st-key-]")?.className.match(/st-key-[\\w-]+/)?.[0];
    fading[`${target.localName} ${key} ${moving.transitionProperty}`] = easing.some((name) => name.startsWith("steps"));
  }
  requestAnimationFrame(look);
};
look();
"""


def test_while_a_sentence_is_read_nothing_on_the_page_is_drawn_anew_in_every_frame(explore: Open) -> None:
    """What fades so takes the processor from the model on a machine that is both server and browser."""
    page = explore()
    page.evaluate(FADING)
    type_sentence(page, "Six small birds sing near the old bridge while it rains over the river")
    fading = page.evaluate("fading")
    assert any("st-key-heads" in name for name in fading), fading
    assert [name for name, in_steps in fading.items() if not in_steps and "button" not in name] == []


#: Notes the frame in which each picture was seen to be on screen.
FRAMES = """
window.frames_of = [];
const mark = performance.mark.bind(performance);
performance.mark = (name, options) => {
  frames_of.push([name, options?.detail, document.timeline.currentTime]);
  return mark(name, options);
};
"""


def test_all_heads_of_a_new_sentence_are_on_screen_before_the_large_one_is_drawn(explore: Open) -> None:
    page = explore()
    old = page.get_by_test_id("heatmap").first.evaluate("stage => stage.closest('[data-painted]').dataset.painted")
    page.evaluate(FRAMES)
    type_sentence(page, "Three red kites rise over the quiet hills while children run below")
    until(lambda: any(name == HEAD and detail != old for name, detail, _ in page.evaluate("frames_of")))
    seen = page.evaluate("frames_of")
    tiles = next(frame for name, _, frame in seen if name == "attnviz-overview-painted")
    head = next(frame for name, detail, frame in seen if name == HEAD and detail != old)
    assert tiles < head, seen


def test_the_controls_of_a_head_stay_and_name_the_tokens_of_the_new_sentence(explore: Open) -> None:
    page = explore()
    hide = page.get_by_test_id("hide").first
    mine = hide.element_handle()
    type_sentence(page, "Nobody expected zebras")
    until(lambda: any("expected" in name for name in hide.locator("option").all_text_contents()))
    assert mine.evaluate("node => node.isConnected"), "what a hand may be holding is not taken from it"
    tokens = page.locator(".av-chips [role=option]").count()
    assert hide.locator("option").count() == tokens + 1


def test_a_token_that_is_longer_than_its_row_is_cut(explore: Open) -> None:
    page = explore(width=320, height=700)
    type_sentence(page, f"Rule {LONG_TOKEN} end")
    chip = page.locator(".av-chip").nth(1)
    assert chip.text_content().strip() == LONG_TOKEN
    wide, whole, row = chip.evaluate("chip => [chip.clientWidth, chip.scrollWidth, chip.parentElement.clientWidth]")
    assert wide < row < whole


def test_clicking_a_tile_shows_that_head_and_the_link_says_so(explore: Open) -> None:
    page = explore()
    page.mouse.click(*tile(page, 2 * 9 + 4))
    page.locator(".av-title", has_text="Layer 2, head 4").wait_for()
    page.wait_for_url("**at=2.4*")


def test_a_link_reopened_elsewhere_gives_the_same_picture(explore: Open) -> None:
    page = explore("?at=11.6")
    type_sentence(page, "One two three one two three one two")
    page.mouse.click(*cell(page, 6, 4, 8))
    page.wait_for_function("location.search.includes('c=')")
    page.mouse.move(5, 5)
    again = explore(page.url.split("/explore")[1])
    again.mouse.move(5, 5)
    assert title(again) == title(page)
    expect(again.get_by_test_id("readout").first).to_have_text(page.get_by_test_id("readout").first.text_content())
    until(lambda: picture(again) == picture(page))


def test_what_if_in_a_link_is_computed_again(explore: Open) -> None:
    page = explore("?open_what_if=true&mask=window&window=2&where=layer&again=true")
    page.get_by_text("of the probability moved to other tokens").first.wait_for(timeout=60_000)
    assert page.get_by_text("Difference").first.is_visible()


def test_a_likely_token_is_appended_shown_and_pinned(explore: Open) -> None:
    page = explore("?open_next=true")
    area, chips = page.get_by_label("Sentence", exact=True), page.locator(".av-chips").first.get_by_role("option")
    before, count = area.input_value(), chips.count()
    button = page.locator("[class*=st-key-append-] button").filter(has_text=re.compile(r"^\s*[A-Za-z]+\s*$")).first
    button.wait_for()
    token = button.text_content().strip()
    button.click()
    chips.nth(count).wait_for()
    assert chips.count() == count + 1
    assert area.input_value().startswith(before)
    assert area.input_value()[len(before) :].strip() == token == chips.nth(count).text_content().strip()
    page.wait_for_function("location.search.includes('text=')")
    assert [chips.nth(i).get_attribute("aria-selected") for i in range(count + 1)] == ["false"] * count + ["true"]
    again = explore(page.url.split("/explore")[1])
    assert again.get_by_label("Sentence", exact=True).input_value() == area.input_value()
    assert again.locator(".av-chips").first.get_by_role("option").nth(count).get_attribute("aria-selected") == "true"


def test_hover_reads_four_digits_and_escape_lets_go_of_pins(explore: Open) -> None:
    page = explore()
    page.mouse.move(*cell(page, 8, 1, 13))
    readout = page.get_by_test_id("readout").first
    expect(readout).to_have_text(re.compile(r"it \(8\) → animal \(1\): 0\.7\d{3}"))
    page.mouse.click(*cell(page, 8, 1, 13))
    page.wait_for_function("location.search.includes('c=')")
    page.keyboard.press("Escape")
    page.wait_for_function("!location.search.includes('c=')")


def test_back_undoes_only_the_last_change(explore: Open) -> None:
    page = explore("?open_what_if=true")
    page.get_by_test_id("hide").first.select_option("1")
    page.get_by_text("No token may look at: animal (1).").first.wait_for()
    page.get_by_role("button", name=re.compile("previous token")).first.click()
    page.locator(".av-title", has_text="Layer 16, head 0").first.wait_for()
    page.wait_for_url("**at=16.0*")
    answered(page)
    page.go_back()
    page.locator(".av-title", has_text="Layer 13, head 8").first.wait_for()
    page.get_by_text("No token may look at: animal (1).").first.wait_for()
    page.go_back()
    page.get_by_text("No token may look at: animal (1).").first.wait_for(state="detached")


def test_the_keyboard_alone_chooses_a_head(explore: Open) -> None:
    page = explore()
    page.get_by_test_id("overview").focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.locator(".av-title", has_text="Layer 12, head 8").wait_for()


NASTY = "<img src=x onerror=window.hacked=1> and $x$ **y**"


def test_markup_shows_as_typed_and_never_runs(explore: Open) -> None:
    page = explore("?open_stages=true&open_next=true")
    type_sentence(page, NASTY)
    assert page.evaluate("window.hacked") is None
    assert page.locator("img[src=x]").count() == 0
    chips = "".join(page.locator(".av-chips [role=option]").all_text_contents())
    for part in ("<", "img", "onerror", "$", "**"):
        assert part in chips
    assert page.locator(".katex", has_text="onerror").count() == 0


def open_export(page: Any, label: str) -> Any:
    page.get_by_role("button", name=re.compile(rf"{label}( |$|.*more)")).first.click()
    page.get_by_role("button", name="SVG", exact=True).wait_for()
    return page


def save(page: Any, button: str, folder: Path) -> Path:
    return saved_in(page, page.get_by_role("button", name=button, exact=True), folder)


def test_exports_open_and_hold_the_tokens_and_the_numbers(explore: Open, tmp_path: Path, new_page: Open) -> None:
    page = explore()
    page.locator(".st-key-head-out-under").get_by_role("button", name="Export").first.click()
    page.get_by_role("button", name="SVG", exact=True).wait_for()
    svg = save(page, "SVG", tmp_path).read_text()
    for token in ("animal", "street", "tired"):
        assert token in svg
    assert "Layer 13, head 8" in svg
    twice, four = save(page, "PNG 2x", tmp_path).read_bytes(), save(page, "PNG 4x", tmp_path).read_bytes()
    assert twice[:8] == four[:8] == b"\x89PNG\r\n\x1a\n"
    wide = [int.from_bytes(png[16:20], "big") for png in (twice, four)]
    assert wide[1] == 2 * wide[0] > 1200
    table = save(page, "CSV, the numbers", tmp_path)
    rows = list(csv.DictReader(table.open()))
    found = next(row for row in rows if row["query"] == "it" and row["key"] == "animal")
    assert float(found["value"]) == pytest.approx(0.7496, abs=5e-4)
    assert len(svg.encode()) <= 200_000


def test_the_lines_leave_as_they_are_drawn(explore: Open, tmp_path: Path) -> None:
    page = explore()
    page.locator(".st-key-head-out-under").get_by_role("button", name="Export lines").first.click()
    page.get_by_role("button", name="SVG", exact=True).wait_for()
    svg = save(page, "SVG", tmp_path).read_text()
    assert ">Queries<" in svg
    assert ">Keys<" in svg
    assert "linearGradient" in svg, "from Q's colour to K's"
    assert re.search(r"M[\d.]+ [\d.]+C", svg), "curves"
    assert "127.0.0.1" not in svg


def test_a_thousand_tokens_can_be_zoomed(explore: Open) -> None:
    page = explore()
    type_sentence(page, " ".join(f"word{i}" for i in range(300)))
    stage = page.get_by_test_id("heatmap").first
    before = float(stage.get_attribute("data-zoom").split(",")[0])
    stage.scroll_into_view_if_needed()
    box = stage.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, max(box["y"], 0) + 150)  # it is as high as the window
    page.keyboard.down("Control")
    page.mouse.wheel(0, -600)
    page.keyboard.up("Control")
    until(lambda: float(stage.get_attribute("data-zoom").split(",")[0]) != before)


def test_a_head_is_fetched_and_drawn_before_the_script_answers(server_url: str, new_page: Open) -> None:
    page = new_page()
    line = Line(page)
    page.goto(f"{server_url}/explore?text=" + "one+two+three+" * 25)  # of a short sentence all heads come by themselves
    expect(page.get_by_test_id("overview")).to_have_attribute("data-tiles", re.compile(r"\d"), timeout=60_000)
    answered(page)
    with page.expect_response(lambda answer: answer.url.endswith("/7.1")) as fetched:
        page.mouse.move(*tile(page, 7 * 9 + 1))
    assert fetched.value.status == 200
    fetched.value.finished()
    line.hold()
    page.mouse.down()
    page.mouse.up()
    page.locator(".av-title", has_text="Layer 7, head 1").wait_for()
    assert "at=7.1" not in page.url, "drawn from what was fetched, before the page hears of an answer"
    line.let_go()
    page.wait_for_url("**at=7.1*")
    answered(page)
    assert title(page).startswith("Layer 7, head 1")
