"""Mask and scale of the large head under a hand: mouse, touch and keys, each weight against `attend`."""

import json
import re

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from attnviz.analysis.heads.nearest_heads import compare_rows
from attnviz.analysis.model_run import Request, stored_run
from attnviz.core.attention import attend
from attnviz.models.loading import EXAMPLES
from tests.browser.canvas_places import cell, drag, finger, mask_door, spot_on, tile, weights
from tests.browser.conftest import answered, resized, still, until
from tests.browser.test_all_heads import arrived

LAYER, HEAD = 13, 8
#: A weight is 32 bits on both sides. The server shows the trace that was prepared, or a pass of its own; where another
#: processor prepared it, weights of this layer differ by up to 5e-6 (head 6, without its scale).
EXACT = 1e-5
STAGE = "[data-testid=heatmap]"
PAINTED = "stage => stage.querySelector('canvas').toDataURL()"


@pytest.fixture(scope="module")
def layer():
    """The layer on show as the page opens."""
    return stored_run(Request("smollm2-135m", EXAMPLES[0].text)).stacks[0].layers[LAYER]


def expected(layer, mask, factor):
    """The weights by `attend` itself, from this layer's q and k."""
    kv = HEAD // (layer.n_heads // layer.n_kv_heads)
    q, k = layer.q[:, [HEAD]].float(), layer.k[:, [kv]].float()
    return attend(q, k, k, mask, layer.scale * factor).weights[0, 0].numpy()


def becomes(page, wanted):
    """Wait until the large head draws these weights; a function is asked anew each time."""
    until(lambda: np.abs(weights(page) - (wanted() if callable(wanted) else wanted)).max() < EXACT)


def edit(page):
    """[mask, window, hidden, scale, factor, seen] as the controls have them."""
    return json.loads(page.get_by_test_id("controls").first.get_attribute("data-edit"))


def slider(page, share):
    box = page.get_by_test_id("scale").first.bounding_box()
    return box["x"] + box["width"] * share, box["y"] + box["height"] / 2


def causal(n):
    return torch.ones(n, n, dtype=torch.bool).tril()


def test_a_mouse_drags_the_scale_keys_and_marks_change_it_a_stroke_paints_and_the_link_holds_it_all(opened, layer):
    page = opened("explore", STAGE)
    own = weights(page)
    n = len(own)
    assert np.abs(own - expected(layer, causal(n), 1.0)).max() < EXACT
    said, address = page.get_by_test_id("said").first.inner_text(), page.url
    page.mouse.move(*slider(page, 0.5))
    page.mouse.down()
    for share in (0.62, 0.75, 0.86, 0.3, 0.1):
        page.mouse.move(*slider(page, share), steps=3)
        until(lambda: edit(page)[3] == "factor")
        becomes(page, lambda: expected(layer, causal(n), edit(page)[4]))
        assert abs(weights(page).sum() - n) < 1e-4
        expect(page.get_by_test_id("seen-after").first).to_have_attribute("aria-pressed", "true")
    assert edit(page)[4] < 1
    until(lambda: page.get_by_test_id("said").first.inner_text() != said)
    assert page.url == address, "Python has not heard of it"
    page.mouse.up()
    page.wait_for_url(re.compile("scale=factor.*factor="))
    assert "seen=after" in page.url
    for mark, factor in (("none", 1 / layer.scale), ("inverse", 1 / 64 / layer.scale), ("model", 1.0)):
        page.locator(f".av-mark[data-mark={mark}]").first.click()
        until(lambda mark=mark: edit(page)[3] == mark)
        becomes(page, expected(layer, causal(n), factor))
    page.get_by_test_id("scale").first.focus()
    page.keyboard.press("Home")
    until(lambda: edit(page)[4] == 0)
    becomes(page, expected(layer, causal(n), 0.0))
    expect(page.get_by_test_id("scale-value").first).to_contain_text("∞")
    page.locator(".av-mark[data-mark=model]").first.click()
    page.get_by_test_id("scale").first.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    until(lambda: edit(page)[3:5] == ["factor", 1.15])
    page.wait_for_url(re.compile("factor=1.15"))
    becomes(page, expected(layer, causal(n), 1.15))
    answered(page)

    mask_door(page).get_by_role("button", name="Paint the mask on the matrix").click()
    address = page.url
    page.mouse.move(*cell(page, 3, 6, n))
    page.mouse.down()
    page.mouse.move(*cell(page, 3, 10, n), steps=2)
    mask = causal(n)
    mask[3, 6:11] = True
    becomes(page, expected(layer, mask, 1.15))
    assert page.url == address
    page.mouse.up()
    page.wait_for_url(re.compile("mask=painted"))
    answered(page)
    once = page.url
    page.get_by_test_id("heatmap").first.focus()
    page.mouse.move(*cell(page, 12, 12, n))
    page.keyboard.press("Space")
    mask[12, 12] = False
    becomes(page, expected(layer, mask, 1.15))
    page.wait_for_url(lambda url: url != once)
    answered(page)
    again = opened("explore?" + page.url.split("?")[1], STAGE)
    assert edit(again) == edit(page)
    assert np.array_equal(weights(again), weights(page))


def test_a_finger_drags_the_scale_and_paints(opened, layer):
    page = opened("explore", STAGE, width=820, height=1180, has_touch=True)
    n = len(weights(page))
    page.get_by_test_id("scale").first.scroll_into_view_if_needed()
    finger(page, *(slider(page, share) for share in (0.5, 0.55, 0.6, 0.7)))
    until(lambda: edit(page)[4] > 1.2)
    page.wait_for_url(re.compile("factor="))
    becomes(page, lambda: expected(layer, causal(n), edit(page)[4]))
    answered(page)
    mask_door(page).get_by_role("button", name="Paint the mask on the matrix").click()
    page.get_by_test_id("heatmap").first.scroll_into_view_if_needed()
    finger(page, *(cell(page, 12, k, n) for k in (0, 1, 3)))
    page.wait_for_url(re.compile("mask=painted"))
    mask = causal(n)
    mask[12, 0:4] = False
    becomes(page, lambda: expected(layer, mask, edit(page)[4]))


def test_masks_a_hidden_token_what_was_before_and_all_small_pictures_while_the_hand_moves(opened, layer):
    page = opened("explore", STAGE)
    arrived(page)
    own = weights(page)
    n = len(own)
    choose = mask_door(page).get_by_test_id("mask")
    choose.select_option("window")
    page.get_by_test_id("window").first.fill("3")
    becomes(page, expected(layer, causal(n) & ~torch.ones(n, n, dtype=torch.bool).tril(-3), 1.0))
    page.wait_for_url(re.compile("window=3"))
    choose.select_option("none")
    becomes(page, expected(layer, None, 1.0))
    page.get_by_test_id("hide").first.select_option("1")
    everyone = torch.ones(n, n, dtype=torch.bool)
    everyone[:, 1] = False
    becomes(page, expected(layer, everyone, 1.0))
    page.wait_for_url(re.compile("mask=none"))
    after = weights(page)
    before = page.get_by_test_id("seen-before").first.bounding_box()
    page.mouse.move(before["x"] + before["width"] / 2, before["y"] + before["height"] / 2)
    page.mouse.down()
    pressed = page.evaluate("performance.now()")
    until(lambda: np.array_equal(weights(page), own))
    page.wait_for_function("(pressed) => performance.now() - pressed > 500", arg=pressed)  # held, and no mere click
    page.mouse.up()
    until(lambda: np.array_equal(weights(page), after))
    page.get_by_test_id("seen-difference").first.click()
    becomes(page, after - own)
    changes = np.nan_to_num(after - own)
    query, key = np.unravel_index(np.abs(changes).argmax(), changes.shape)
    way = "more" if changes[query, key] > 0 else "less"
    expect(page.get_by_test_id("said").first).to_contain_text(f" {abs(changes[query, key]):.2f} {way} than before.")
    expect(page.locator(".av-title").first).to_have_text(re.compile("^After minus before · Layer"))
    expect(page.locator(".av-bar-name").get_by_text("difference", exact=True).first).to_be_attached()
    page.wait_for_url(re.compile("seen=difference"))
    answered(page)
    again = opened("explore?" + page.url.split("?")[1], STAGE)
    assert np.abs(weights(again) - (after - own)).max() < EXACT

    overview = again.get_by_test_id("overview")
    again.get_by_test_id("where").first.select_option("all")
    again.wait_for_url(re.compile("where=all"))
    answered(again)
    arrived(again)
    again.mouse.move(*slider(again, 0.5))
    small = overview.evaluate(PAINTED)
    again.mouse.down()
    again.mouse.move(*slider(again, 0.95), steps=4)
    until(lambda: overview.evaluate(PAINTED) != small)
    assert "factor" not in again.url
    again.mouse.up()


def test_handles_on_the_matrix_draw_in_and_lift_the_mask_by_hand_and_by_keys(opened, layer):
    page = opened("explore", STAGE)
    n = len(weights(page))
    earlier, later = page.get_by_test_id("earlier").first, page.get_by_test_id("later").first
    drag(page, middle(earlier), cell(page, 9, 4, n))
    until(lambda: edit(page)[:2] == ["window", 6])
    window = causal(n) & ~torch.ones(n, n, dtype=torch.bool).tril(-6)
    becomes(page, expected(layer, window, 1.0))
    page.wait_for_url(re.compile("mask=window.*window=6"))
    earlier.focus()
    page.keyboard.press("ArrowLeft")
    becomes(page, expected(layer, causal(n) & ~torch.ones(n, n, dtype=torch.bool).tril(-5), 1.0))
    page.keyboard.press("End")
    until(lambda: edit(page)[0] == "model")
    drag(page, middle(later), cell(page, 1, 11, n))
    becomes(page, expected(layer, None, 1.0))
    expect(later).to_have_attribute("aria-checked", "false")
    page.wait_for_url(re.compile("mask=none"))
    answered(page)
    later.focus()
    page.keyboard.press("Space")
    becomes(page, expected(layer, causal(n), 1.0))
    expect(later).to_have_attribute("aria-checked", "true")
    page.wait_for_url(lambda url: "mask=" not in url)
    assert "c=" not in page.url, "no cell is pressed below a handle"


def test_a_head_is_switched_off_on_its_picture_struck_out_in_the_wall_and_on_again(opened):
    page = opened("explore?open_what_if=true", STAGE)
    wall, button = page.get_by_test_id("overview"), page.get_by_test_id("silence").first
    button.click()
    until(lambda: wall.get_attribute("data-silenced") == "13.8")
    page.get_by_text("its own weights cannot change").first.wait_for(timeout=60_000)
    page.wait_for_url(re.compile("c="))
    answered(page)
    again = opened("explore?" + page.url.split("?")[1], STAGE)
    until(lambda: again.get_by_test_id("overview").get_attribute("data-silenced") == "13.8")
    expect(again.get_by_test_id("silence").first).to_have_attribute("aria-pressed", "true")
    again.get_by_test_id("silence").first.click()
    until(lambda: again.get_by_test_id("overview").get_attribute("data-silenced") == "")
    again.wait_for_url(lambda url: "c=" not in url)


def test_a_cell_unfolds_how_it_came_about_beside_the_matrix_follows_the_scale_and_folds_up(opened, layer):
    page = opened("explore", STAGE)
    n, stage = len(weights(page)), page.get_by_test_id("heatmap").first
    unfolded, lines = page.get_by_test_id("cell").first, page.get_by_test_id("lines").first
    expect(unfolded).to_be_hidden()
    still(page)
    before = stage.bounding_box()
    page.mouse.click(*cell(page, 8, 1, n))
    expect(unfolded).to_be_visible()
    expect(lines).to_be_hidden()
    answered(page)
    assert stage.bounding_box() == before, "the matrix stands still"
    score = float(layer.q[0, HEAD, 8].float() @ layer.k[0, HEAD // 3, 1].float())
    told = unfolded.get_by_role("img")
    for factor, mark in ((1.0, None), (1 / 64 / layer.scale, "inverse")):
        if mark:
            page.locator(f".av-mark[data-mark={mark}]").first.click()
        weight = expected(layer, causal(n), factor)[8, 1]
        scaled = f"{score * layer.scale * factor:.2f}"
        expect(told).to_have_attribute("aria-label", re.compile(rf"is {score:.2f}; .* {scaled}; .*{weight:.1%}"))
    answered(page)
    again = opened("explore?" + page.url.split("?")[1], STAGE)
    expect(again.get_by_test_id("cell").first).to_be_visible()
    again.get_by_role("button", name="Fold up").click()
    expect(again.get_by_test_id("cell").first).to_be_hidden()
    expect(again.get_by_test_id("lines").first).to_be_visible()
    again.wait_for_url(lambda url: "c=" not in url)


def test_the_card_of_a_head_covers_neither_the_chosen_one_nor_the_matrix_and_a_pinned_row_stays_where_it_was(opened):
    page = opened("explore", STAGE, width=1280, height=720)
    wall = page.get_by_test_id("overview")
    for size in ((1280, 720), (1440, 900)):
        resized(page, *size)
        wide, high, places = json.loads(wall.get_attribute("data-tiles"))
        corner = wall.bounding_box()
        chosen = {"x": corner["x"] + places[13 * 9 + 8][0], "y": corner["y"] + places[13 * 9 + 8][1]}
        chosen |= {"width": wide, "height": high}
        assert corner["y"] + corner["height"] <= size[1], "all heads are in the window"
        for layer, head in ((0, 0), (10, 8), (12, 8), (13, 7), (14, 8), (18, 5), (29, 4)):
            page.mouse.move(*tile(page, layer * 9 + head))
            card = page.locator(".av-preview.av-on")
            expect(card).to_contain_text(f"Layer {layer}, head {head}")
            box = card.bounding_box()
            for other in (chosen, page.get_by_test_id("heatmap").first.bounding_box()):
                assert not overlaps(box, other), (size, layer, head)
    heatmap, remove = page.get_by_test_id("heatmap").first, page.get_by_role("button", name="Remove all pins")
    for size in ((1280, 720), (390, 844), (768, 1024)):
        resized(page, *size)
        x, y = spot_on(heatmap, 0, 10.5 / 13)
        before = [heatmap.get_attribute("data-plot"), heatmap.bounding_box()]
        page.mouse.click(x - 12, y)
        expect(remove).to_be_visible()
        answered(page)
        assert [heatmap.get_attribute("data-plot"), heatmap.bounding_box()] == before, size
        remove.click()
        expect(remove).to_be_hidden()


def middle(element):
    box = element.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def overlaps(one, other):
    return all(
        one[start] < other[start] + other[size] and other[start] < one[start] + one[size]
        for start, size in (("x", "width"), ("y", "height"))
    )


def test_a_row_is_guessed_before_its_weights_are_shown(opened, layer):
    page = opened("explore", STAGE)
    own = weights(page)
    guess, said = page.get_by_test_id("guess").first, page.get_by_test_id("said").first
    guess.click()
    expect(said).to_contain_text("Where does “tired” look most?")
    becomes(page, lambda: expected(layer, causal(len(own)), 0.0))
    page.mouse.click(*cell(page, 11, 4, len(own)))
    becomes(page, own)
    expect(said).to_have_text("You guessed “cross”: it gets <1%. Most goes to “it”: 41%.")
    guess.click()
    expect(said).to_contain_text("Where does ")
    page.mouse.click(*slider(page, 0.8))  # whatever else a hand does shows the truth, as it is by then
    expect(said).not_to_contain_text("Where does ")


@pytest.mark.parametrize("path", ["?sentence=", "explore?text="])
def test_a_guess_says_which_of_equal_words_it_is_about(opened, path):
    page = opened(path + "a+b+a+b+a+b", ".rb-stage, " + STAGE)
    guess, said = page.get_by_test_id("guess").first, page.get_by_test_id("said").first
    asked = re.search(r"“[ab] \(\d\)”", guess.inner_text())
    assert asked, "which of three"
    guess.click()
    expect(said).to_contain_text(f"Where does {asked[0]} look most?")
    page.locator(".rb-word").nth(1).click() if "sentence" in path else page.mouse.click(
        *spot_on(page.get_by_test_id("heatmap").first, 1.5 / 6, -0.03)
    )
    expect(said).to_contain_text("You guessed “b (1)”")


def test_heads_that_do_what_is_asked_are_listed_framed_and_shown(opened):
    """A pattern, painted cells and a dragged row: what is listed is what the library finds."""
    stack = stored_run(Request("smollm2-135m", EXAMPLES[0].text)).stacks[0]
    heads = np.concatenate([each.weights()[0].double().numpy() for each in stack.layers])

    def nearest(rows):
        pairs = [(heads[:, query], np.asarray(row, float)) for query, row in rows.items()]
        found = compare_rows(stack.places, pairs)
        return [f"{near.layer}.{near.head} ({near.divergence:.2f} nats)" for near in found.heads]

    page = opened("explore", STAGE)
    n = len(stack.queries)
    until(lambda: page.get_by_test_id("find").is_visible())
    page.get_by_test_id("find").click()
    listed = page.get_by_test_id("find-box").locator(".av-line button")
    page.get_by_test_id("find-pattern").select_option("previous")
    expect(listed).to_have_text(nearest({query: np.eye(n)[query - 1] for query in range(1, n)}))
    expect(page.get_by_test_id("find-box").get_by_role("status")).to_contain_text("0 of 1,000 random")
    page.mouse.click(*cell(page, 8, 1, n))
    expect(page.get_by_test_id("find-pattern")).to_have_value("own")
    page.get_by_test_id("find-box").get_by_role("button", name="Start anew").click()
    expect(listed).to_have_count(0)
    page.mouse.click(*cell(page, 8, 1, n))
    expect(listed).to_have_text(nearest({8: np.eye(n)[1]}))
    expect(page.get_by_test_id("find-box").get_by_role("status")).to_contain_text("of 1,000 random")
    page.mouse.click(*cell(page, 8, 1, n))
    expect(listed).to_have_count(0)
    x, y = spot_on(page.get_by_test_id("heatmap").first, 1.5 / n, 1)
    page.mouse.move(x, y + 5)
    page.mouse.down()
    page.mouse.move(x, y + 40, steps=4)
    page.mouse.up()
    even = np.where(np.arange(n) <= 8, 0.5 / 8, 0)
    expect(listed).to_have_text(nearest({8: np.where(np.arange(n) == 1, 0.5, even)}))
    name = listed.first.inner_text().split()[0]
    listed.first.click()
    layer, head = name.split(".")
    expect(page.locator(".av-title").first).to_contain_text(f"Layer {layer}, head {head}")
    page.get_by_test_id("find").click()
    expect(listed.first).to_be_hidden()


def test_the_unfolded_cell_has_a_door_to_what_wrote_it_and_a_cut_moves_the_rows_weights(opened):
    page = opened("explore?text=+river+stone+green+cable+plant+river+stone+green+cable+plant&at=18.6", STAGE)
    page.mouse.click(*cell(page, 6, 2, 10))
    page.get_by_test_id("why").click()
    panel = page.locator(".st-key-why-there")
    expect(page.get_by_text("To that key’s score, head 16.0 adds most")).to_be_visible()
    expect(panel.locator("canvas")).to_be_in_viewport()
    before = panel.locator("canvas").evaluate("canvas => canvas.toDataURL()")
    part = panel.get_by_role("button", name="head 16.0")
    part.click()
    expect(panel.get_by_role("status")).to_contain_text("83.2% → 0.3% with this path cut; 20.1% with head 16.0")
    expect(part).to_have_attribute("aria-pressed", "true")
    until(lambda: panel.locator("canvas").evaluate("canvas => canvas.toDataURL()") != before)
    page.wait_for_url(re.compile("cut=16.0"))
    part.click()
    expect(panel.get_by_role("status")).to_be_hidden()
    page.locator(".st-key-why-examples button").first.click()
    page.locator(".st-key-why-example-2 button").first.click()
    expect(page.get_by_text("To that key’s score, its position adds most")).to_be_visible()
    expect(page.get_by_label("Sentence").first).to_have_value(re.compile("^The bank by the river"))
