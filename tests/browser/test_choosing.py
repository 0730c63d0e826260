"""Masks, Build, Heads and Sharing under a hand: painted, pointed at, walked, typed in, chosen, saved, opened again."""

import json
import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from attnviz.pages.build.maths.attention_by_hand import run
from attnviz.pages.build.maths.inputs import Config
from tests.browser.canvas_places import cell_on
from tests.browser.conftest import answered, still, until


def kept(page, text):
    """Wait until the page says `text`."""
    page.get_by_text(text).first.wait_for()


def test_paint_reaches_weights_code_and_link_is_undone_and_is_kept_under_another_rule(opened):
    page = opened("masks", "[data-testid=mask]")

    def cell(q, k):
        return cell_on(page.get_by_test_id("mask"), q, k, 10)

    kept(page, "keeps 55 of 100 pairs")
    page.mouse.move(*cell(9, 0))
    page.mouse.down()
    page.mouse.move(*cell(9, 9), steps=6)
    page.mouse.up()
    kept(page, "keeps 45 of 100 pairs")
    kept(page, "Remove the paint: 10 cells")
    kept(page, "may look at nothing. Its row is zero here")
    page.keyboard.press("Control+z")
    kept(page, "keeps 55 of 100 pairs")
    page.get_by_text("may look at nothing. Its row").wait_for(state="detached")
    page.wait_for_function("() => !location.search.includes('m_paint')")
    for key in ("ArrowUp", "Space"):
        page.keyboard.press(key)
    kept(page, "Remove the paint: 1 cell")
    page.keyboard.press("Control+z")
    kept(page, "keeps 55 of 100 pairs")
    page.mouse.click(*cell(0, 9))
    kept(page, "keeps 56 of 100 pairs")
    kept(page, "Remove the paint: 1 cell")
    page.get_by_text("The same in PyTorch").click()
    page.get_by_text("(0, 9, True)").wait_for()
    page.wait_for_url("**m_paint=*")
    page.reload()
    kept(page, "keeps 56 of 100 pairs")
    kept(page, "Remove the paint: 1 cell")
    still(page)  # a list that is opened while the page still comes is closed again
    rules = page.get_by_label("The mask, painted over", exact=True)
    until(lambda: rules.click() or page.get_by_role("option").first.is_visible())
    page.get_by_role("option", name="sliding window").click()
    kept(page, "keeps 35 of 100 pairs")
    window = page.get_by_label("words seen, itself included")
    window.fill("2")
    window.press("Enter")
    kept(page, "keeps 20 of 100 pairs")
    expect(page).to_have_url(re.compile("m_rule1=window.*m1_window_window=2"))
    page.get_by_role("button", name="Remove the paint: 1 cell").click()
    kept(page, "keeps 19 of 100 pairs")


def at(page, sheet, r, c):
    """The locator of one number on the board."""
    return page.locator(f'[data-at="{sheet},{r},{c}"]')


def origins(page):
    """The numbers that the lit one is made of."""
    areas = json.loads(page.locator(".tb-sheets").get_attribute("data-from"))
    return [f"{i},{r},{c}" for i, r0, r1, c0, c1 in areas for r in range(r0, r1) for c in range(c0, c1)]


def written(page):
    """The sum on the board, as (the value of its terms, the result that is written)."""
    text = page.locator(".tb-line-out").inner_text().replace("\n", " ").replace("−", "-").replace("≈", "=")
    _name, terms, total = re.split(r"\s=\s", text, maxsplit=2)
    return float(eval(terms.replace("×", "*"))), float(total)


@pytest.mark.every_commit
def test_numbers_of_the_board_are_pointed_at_and_the_walk_goes_forward_and_back_and_the_link_follows(opened):
    page = opened("build?b_step=scores", ".tb-line-out")
    scores = run(Config()).tensors["scores"][0, 0]
    for r, c in ((2, 3), (0, 1), (3, 0)):
        at(page, 2, r, c).hover()
        assert origins(page) == [f"0,{r},0", f"0,{r},1", f"1,0,{c}", f"1,1,{c}"]
        came_to, said = written(page)
        assert came_to == pytest.approx(said, abs=1e-3)
        assert said == pytest.approx(float(scores[r, c]), abs=1e-4)
    page.get_by_role("button", name="Next step").click()
    page.wait_for_url("**b_step=scale*")
    page.get_by_text("dividing by √D takes that back").wait_for()
    page.get_by_role("tab", name="Softmax").click()
    page.wait_for_url("**b_step=softmax*")
    page.get_by_text("Each row becomes shares").wait_for()
    page.keyboard.press("Home")
    page.wait_for_url("**b_step=embed*")
    page.get_by_text("has the same row wherever it stands").wait_for()
    expect(page.get_by_role("button", name="Step back")).to_be_disabled()


def test_a_weight_is_dragged_on_the_board_its_products_follow_the_hand_and_python_agrees(opened):
    page = opened("build?b_step=project", ".tb-line-out")
    weight = at(page, 1, 1, 2)
    assert weight.inner_text() == "−0.3"
    box = weight.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y, steps=6)
    assert weight.inner_text() == "0.7"
    assert "b_at" not in page.url, "only letting go is sent"
    config = Config(edits=(("W_Q", 1, 2, 0.7),))
    wanted = [f"{value:.2f}".replace("-", "−") for value in run(config).tensors["Q_flat"][0, :, 2].tolist()]
    followed = [at(page, 2, r, 2).inner_text() for r in range(4)]
    came_to, said = written(page)
    assert came_to == pytest.approx(said, abs=1e-3)
    page.mouse.up()
    page.wait_for_url("**b_at=*")
    page.get_by_text("1 cell typed in by you", exact=False).first.wait_for()
    assert [at(page, 2, r, 2).inner_text() for r in range(4)] == followed == wanted
    weight.focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("-")
    page.get_by_text("2 cells typed in by you", exact=False).first.wait_for()
    expect(at(page, 1, 0, 2)).to_have_text("0.1")


def test_a_weight_typed_on_the_board_changes_all_tensors_and_the_link(opened):
    page = opened("build?b_step=project&b_packed=true", ".tb-line-out")
    before = at(page, 2, 0, 0).inner_text()
    at(page, 1, 0, 0).click()
    page.locator(".tb-field").fill("−7.25")
    page.keyboard.press("Escape")
    expect(page.locator(".tb-field")).to_have_count(0)
    expect(at(page, 2, 0, 0)).to_have_text(before)
    at(page, 1, 0, 0).focus()
    page.keyboard.press("9")
    expect(page.locator(".tb-field")).to_have_value("9")
    page.keyboard.press("Enter")
    page.get_by_text("1 cell typed in by you", exact=False).first.wait_for()
    page.wait_for_url("**b_at=*")
    expect(at(page, 1, 0, 0)).to_have_text("9.0")
    expect(at(page, 2, 0, 0)).not_to_have_text(before)
    page.reload()
    page.locator(".tb-line-out").wait_for()
    expect(at(page, 1, 0, 0)).to_have_text("9.0")
    page.get_by_role("button", name="Undo all edits").click()
    page.get_by_text("Nothing is edited yet").wait_for()
    expect(at(page, 2, 0, 0)).to_have_text(before)  # the board is drawn after the words


MAP = ".st-key-hd_map_canvas .hm-stage"
#: where on the screen a head's small picture is, heads being numbered through the layers
PLACE = """(stage, number) => {
    const [x, y, side] = JSON.parse(stage.dataset.tiles)[number], box = stage.getBoundingClientRect();
    return [box.x + x + side / 2, box.y + y + side / 2];
}"""


@pytest.mark.every_commit
def test_a_clicked_head_is_shown_kept_in_the_link_and_found_again(opened):
    drawn = f"{MAP}[data-tiles]", ".st-key-hd_explore button"
    page = opened("heads?hd_model=minilm-l6&hd_text=books&hd_by=previous_token", *drawn)
    still(page)
    page.mouse.move(*page.locator(MAP).evaluate(PLACE, 12 * 2 + 7))
    expect(page.locator(".hm-name")).to_contain_text("Layer 2, head 7")
    page.mouse.click(*page.locator(MAP).evaluate(PLACE, 12 * 2 + 7))
    page.wait_for_url(re.compile(r"hd_at=2\.7"))
    page.get_by_text("layer 2, head 7", exact=False).first.wait_for()
    page.get_by_role("button", name="Open layer 2, head 7").wait_for()
    answered(page)
    again = opened("heads?" + urlsplit(page.url).query, *drawn)
    sentence = again.locator("blockquote").inner_text()
    again.locator(".hm-open").click()
    again.wait_for_url(re.compile(r"/explore\?"))
    link = parse_qs(urlsplit(again.url).query)
    assert link["at"] == ["2.7"]
    assert link["model"] == ["minilm-l6"]
    assert link["text"][0].split() == sentence.split()
