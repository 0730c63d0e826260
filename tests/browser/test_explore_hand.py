"""Mask and scale of the large head under a hand: mouse, touch and keys, each weight against `attend`."""

import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from attnviz.core.attention import attend
from attnviz.models.capture import RecordedLayer
from attnviz.models.catalogue import EXAMPLES
from attnviz.runs.model_run import Request, kept_run
from tests.browser.conftest import answered, until
from tests.browser.every_view import GROUND, STILL
from tests.browser.test_all_heads import arrived

Open = Callable[..., Any]
LAYER, HEAD = 13, 8
#: A weight is 32 bits on both sides. The server shows the trace that was prepared, or a pass of its own; where another
#: processor prepared it, weights of this layer differ by up to 5e-6 (head 6, without its scale).
EXACT = 1e-5
#: Answers when the address holds a canvas's part and has not changed for 0.8 seconds.
ADDRESS_STANDS = """() => new Promise((then) => {
  let [last, since] = [location.href, performance.now()];
  const look = () => {
    if (location.href !== last) [last, since] = [location.href, performance.now()];
    if (location.search.includes("c=") && performance.now() - since > 800) then();
    else setTimeout(look, 20);
  };
  look();
})"""


@pytest.fixture(scope="module")
def layer() -> RecordedLayer:
    """The layer on show as the page opens."""
    return kept_run(Request("smollm2-135m", EXAMPLES[0].text)).stacks[0].layers[LAYER]


@pytest.fixture
def explore(server_url: str, new_page: Open) -> Open:
    """`explore("?at=3.1")`: the explorer with its first head drawn, and all heads' scores there."""

    def opened(query: str = "", where: str = "explore", **options: Any) -> Any:
        page = new_page(**options)
        page.goto(f"{server_url}/{where}{query}")
        page.get_by_test_id("heatmap").first.wait_for(timeout=90_000)
        answered(page)
        return page

    return opened


def expected(layer: RecordedLayer, mask: torch.Tensor | None, factor: float) -> np.ndarray:
    """The weights by `attend` itself, from this layer's q and k."""
    assert layer.q is not None
    assert layer.k is not None
    kv = HEAD // (layer.n_heads // layer.n_kv_heads)
    q, k = layer.q[:, [HEAD]].float(), layer.k[:, [kv]].float()
    return attend(q, k, k, mask, layer.scale * factor).weights[0, 0].numpy()


def weights(page: Any) -> np.ndarray:
    """The numbers that the large head draws, 0 where masked."""
    rows = page.get_by_test_id("heatmap").first.evaluate("stage => stage.matrix()")
    return np.array([[0.0 if cell is None else cell for cell in row] for row in rows])


def edit(page: Any) -> list[Any]:
    """[mask, window, hidden, scale, factor, seen] as the controls have them."""
    found: list[Any] = json.loads(page.get_by_test_id("controls").first.get_attribute("data-edit"))
    return found


def slider(page: Any, share: float) -> tuple[float, float]:
    box = page.get_by_test_id("scale").first.bounding_box()
    return box["x"] + box["width"] * share, box["y"] + box["height"] / 2


def cell(page: Any, q: int, k: int, n: int) -> tuple[float, float]:
    stage = page.get_by_test_id("heatmap").first
    box = stage.bounding_box()
    x, y, w, h = (float(v) for v in stage.get_attribute("data-plot").split(","))
    return box["x"] + x + w * (k + 0.5) / n, box["y"] + y + h * (q + 0.5) / n


def causal(n: int) -> torch.Tensor:
    return torch.ones(n, n, dtype=torch.bool).tril()


def reopened(explore: Open, page: Any, **options: Any) -> Any:
    return explore("?" + page.url.split("?")[1], **options)


def test_a_mouse_drags_the_scale_and_every_weight_is_attends_before_python_hears(
    explore: Open, layer: RecordedLayer
) -> None:
    page = explore()
    own = weights(page)
    n = len(own)
    assert np.abs(own - expected(layer, causal(n), 1.0)).max() < EXACT
    said, address = page.get_by_test_id("said").first.inner_text(), page.url
    page.mouse.move(*slider(page, 0.5))
    page.mouse.down()
    for share in (0.62, 0.75, 0.86, 0.3, 0.1):
        page.mouse.move(*slider(page, share), steps=3)
        until(lambda: edit(page)[3] == "factor")
        factor = edit(page)[4]
        until(lambda: np.abs(weights(page) - expected(layer, causal(n), edit(page)[4])).max() < EXACT)
        assert abs(weights(page).sum() - n) < 1e-4
        assert page.get_by_test_id("seen-after").first.get_attribute("aria-pressed") == "true"
    assert factor < 1
    assert page.get_by_test_id("said").first.inner_text() != said
    assert page.url == address, "Python has not heard of it"
    page.mouse.up()
    page.wait_for_url(re.compile("scale=factor.*factor="))
    assert "seen=after" in page.url
    answered(page)
    again = reopened(explore, page)
    assert edit(again) == edit(page)
    assert np.array_equal(weights(again), weights(page))


def test_keys_change_the_scale_and_the_marks_hold_it(explore: Open, layer: RecordedLayer) -> None:
    page = explore()
    n = len(weights(page))
    page.get_by_test_id("scale").first.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    until(lambda: edit(page)[3:5] == ["factor", 1.15])
    page.wait_for_url(re.compile("factor=1.15"))
    assert np.abs(weights(page) - expected(layer, causal(n), 1.15)).max() < EXACT
    page.keyboard.press("Home")
    until(lambda: edit(page)[4] == 0)
    assert np.abs(weights(page) - expected(layer, causal(n), 0.0)).max() < EXACT
    assert "∞" in page.get_by_test_id("scale-value").first.inner_text()
    for mark, factor in (("none", 1 / layer.scale), ("inverse", 1 / 64 / layer.scale), ("model", 1.0)):
        page.locator(f".av-mark[data-mark={mark}]").first.click()
        until(lambda mark=mark: edit(page)[3] == mark)
        until(lambda f=factor: np.abs(weights(page) - expected(layer, causal(n), f)).max() < EXACT)


def test_a_finger_drags_the_scale_and_paints(explore: Open, layer: RecordedLayer) -> None:
    page = explore(width=820, height=1180, has_touch=True)
    n = len(weights(page))
    touch = page.context.new_cdp_session(page)

    def drag(*points: tuple[float, float]) -> None:
        for kind, point in zip(["touchStart", *["touchMove"] * (len(points) - 1)], points, strict=True):
            at = [{"x": point[0], "y": point[1]}]
            touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": at})
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    page.get_by_test_id("scale").first.scroll_into_view_if_needed()
    drag(slider(page, 0.5), slider(page, 0.55), slider(page, 0.6), slider(page, 0.7))
    until(lambda: edit(page)[4] > 1.2)
    page.wait_for_url(re.compile("factor="))
    assert np.abs(weights(page) - expected(layer, causal(n), edit(page)[4])).max() < EXACT
    answered(page)
    page.get_by_role("button", name="Paint the mask on the matrix").first.click()
    page.get_by_test_id("heatmap").first.scroll_into_view_if_needed()
    drag(cell(page, 12, 0, n), cell(page, 12, 1, n), cell(page, 12, 3, n))
    page.wait_for_url(re.compile("mask=painted"))
    mask = causal(n)
    mask[12, 0:4] = False
    until(lambda: np.abs(weights(page) - expected(layer, mask, edit(page)[4])).max() < EXACT)


def test_a_stroke_paints_the_mask_on_the_matrix_and_the_link_holds_it(explore: Open, layer: RecordedLayer) -> None:
    page = explore()
    n = len(weights(page))
    page.get_by_role("button", name="Paint the mask on the matrix").first.click()
    address = page.url
    page.mouse.move(*cell(page, 3, 6, n))
    page.mouse.down()
    page.mouse.move(*cell(page, 3, 10, n), steps=2)
    mask = causal(n)
    mask[3, 6:11] = True
    until(lambda: np.abs(weights(page) - expected(layer, mask, 1.0)).max() < EXACT)
    assert page.url == address
    page.mouse.up()
    page.wait_for_url(re.compile("mask=painted"))
    page.get_by_test_id("heatmap").first.focus()
    page.mouse.move(*cell(page, 12, 12, n))
    page.keyboard.press("Space")
    mask[12, 12] = False
    until(lambda: np.abs(weights(page) - expected(layer, mask, 1.0)).max() < EXACT)
    answered(page)
    page.evaluate(ADDRESS_STANDS)
    answered(page)
    again = reopened(explore, page)
    assert np.array_equal(weights(again), weights(page))


def test_masks_a_hidden_token_and_what_was_before(explore: Open, layer: RecordedLayer) -> None:
    page = explore()
    own = weights(page)
    n = len(own)
    choose = page.get_by_test_id("mask").first
    choose.select_option("none")
    until(lambda: np.abs(weights(page) - expected(layer, None, 1.0)).max() < EXACT)
    page.get_by_test_id("hide").first.select_option("1")
    everyone = torch.ones(n, n, dtype=torch.bool)
    everyone[:, 1] = False
    until(lambda: np.abs(weights(page) - expected(layer, everyone, 1.0)).max() < EXACT)
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
    until(lambda: np.abs(weights(page) - (after - own)).max() < EXACT)
    changes = np.nan_to_num(after - own)
    query, key = np.unravel_index(np.abs(changes).argmax(), changes.shape)
    way = "more" if changes[query, key] > 0 else "less"
    assert f" {abs(changes[query, key]):.2f} {way} than before." in page.get_by_test_id("said").first.inner_text()
    assert page.locator(".av-title").first.inner_text().startswith("After minus before · Layer")
    assert "difference" in page.locator(".av-bar-name").all_inner_texts()
    page.wait_for_url(re.compile("seen=difference"))
    answered(page)
    again = reopened(explore, page)
    assert np.abs(weights(again) - (after - own)).max() < EXACT


def test_a_window_is_as_wide_as_its_slider_says(explore: Open, layer: RecordedLayer) -> None:
    page = explore()
    n = len(weights(page))
    page.get_by_test_id("mask").first.select_option("window")
    page.get_by_test_id("window").first.fill("3")
    mask = causal(n) & ~torch.ones(n, n, dtype=torch.bool).tril(-3)
    until(lambda: np.abs(weights(page) - expected(layer, mask, 1.0)).max() < EXACT)
    page.wait_for_url(re.compile("window=3"))


def test_all_small_pictures_follow_while_the_hand_moves(explore: Open) -> None:
    page = explore()
    arrived(page)
    overview = page.get_by_test_id("overview")
    page.get_by_test_id("where").first.select_option("all")
    page.wait_for_url(re.compile("where=all"))
    answered(page)
    page.mouse.move(*slider(page, 0.5))
    painted = "stage => stage.querySelector('canvas').toDataURL()"
    before = overview.evaluate(painted)
    page.mouse.down()
    page.mouse.move(*slider(page, 0.95), steps=4)
    until(lambda: overview.evaluate(painted) != before)
    assert "factor" not in page.url
    page.mouse.up()


@pytest.mark.parametrize("where", ["explore", ""])
def test_on_a_projector_controls_matrix_and_pinned_row_are_on_screen(explore: Open, where: str) -> None:
    page = explore("", where, width=1280, height=720)
    page.get_by_test_id("said").first.wait_for()
    if not where:  # Start says what attention is first: its head fits a screen of its own
        page.get_by_test_id("said").first.evaluate("said => said.scrollIntoView({block: 'end'})")
    for part in ("controls", "mask", "scale", "heatmap", "said"):
        box = page.get_by_test_id(part).first.bounding_box()
        assert box["y"] >= 0, part
        assert box["y"] + box["height"] <= 720, part
    if where:
        assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollTop") == 0


def test_a_link_of_an_earlier_version_shows_the_head_as_it_did(explore: Open, layer: RecordedLayer) -> None:
    page = explore("?open_what_if=true&mask=window&window=2")
    page.get_by_text(re.compile("^After: “")).first.wait_for()
    n = len(weights(page))
    assert np.abs(weights(page) - expected(layer, causal(n), 1.0)).max() < EXACT
    assert edit(page)[0] == "window"
    assert edit(page)[5] == "before"


def test_small_pictures_of_a_long_sentence_follow_when_the_hand_lets_go(explore: Open) -> None:
    text = "+".join(["The", "animal", "was", "tired", "and"] * 16)
    page = explore(f"?text={text}&at=3.1&where=all")
    overview = page.get_by_test_id("overview")
    painted = "stage => stage.querySelector('canvas').toDataURL()"
    before = overview.evaluate(painted)
    page.mouse.move(*slider(page, 0.5))
    page.mouse.down()
    page.mouse.move(*slider(page, 0.95), steps=4)
    page.mouse.up()
    page.wait_for_url(re.compile("factor="))
    until(lambda: overview.evaluate(painted) != before)
    after = overview.evaluate(painted)
    page.locator(".av-mark[data-mark=model]").first.click()
    until(lambda: overview.evaluate(painted) == before)
    page.locator(".av-mark[data-mark=none]").first.click()
    until(lambda: overview.evaluate(painted) not in (before, after))


def test_a_matrix_of_many_tokens_uses_the_width_there_is_and_fits_a_window(explore: Open) -> None:
    text = "+".join(["The", "animal", "was", "tired", "and", "went"] * 30)
    page = explore(f"?text={text}&at=3.1", width=1280, height=720)
    page.get_by_test_id("said").first.wait_for()
    stage = page.get_by_test_id("heatmap").first
    n = len(weights(page))
    assert n >= 180
    for width, height in ((1280, 720), (1440, 900)):
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate(STILL, GROUND["light"])
        high = stage.bounding_box()["height"]
        _x, _y, wide, tall = (float(v) for v in stage.get_attribute("data-plot").split(","))
        beside_labels = page.locator(".av-pair").first.bounding_box()["width"] * 0.6
        assert wide > beside_labels
        assert tall > 2.5 * n
        assert high <= height - 60, "below the bar, all of it is on screen at once"
        stage.evaluate("stage => stage.scrollIntoView({block: 'end'})")
        assert stage.bounding_box()["y"] >= 0
