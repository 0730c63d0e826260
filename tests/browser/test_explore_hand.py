"""Mask and scale of the large head under a hand: mouse, touch and keys, each weight against `attend`."""

import json
import re

import numpy as np
import pytest
import torch

from attnviz.analysis.model_run import Request, stored_run
from attnviz.core.attention import attend
from attnviz.models.loading import EXAMPLES
from tests.browser.canvas_places import cell, finger, weights
from tests.browser.conftest import answered, until
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
        assert page.get_by_test_id("seen-after").first.get_attribute("aria-pressed") == "true"
    assert edit(page)[4] < 1
    assert page.get_by_test_id("said").first.inner_text() != said
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
    assert "∞" in page.get_by_test_id("scale-value").first.inner_text()
    page.locator(".av-mark[data-mark=model]").first.click()
    page.get_by_test_id("scale").first.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    until(lambda: edit(page)[3:5] == ["factor", 1.15])
    page.wait_for_url(re.compile("factor=1.15"))
    becomes(page, expected(layer, causal(n), 1.15))
    answered(page)

    page.get_by_role("button", name="Paint the mask on the matrix").first.click()
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
    assert np.abs(weights(page) - expected(layer, causal(n), edit(page)[4])).max() < EXACT
    answered(page)
    page.get_by_role("button", name="Paint the mask on the matrix").first.click()
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
    choose = page.get_by_test_id("mask").first
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
    assert f" {abs(changes[query, key]):.2f} {way} than before." in page.get_by_test_id("said").first.inner_text()
    assert page.locator(".av-title").first.inner_text().startswith("After minus before · Layer")
    assert "difference" in page.locator(".av-bar-name").all_inner_texts()
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
