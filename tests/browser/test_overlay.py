"""Several heads of a layer in one picture of lines, by mouse, touch and keys, in the app and in a live file."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

from attnviz.live import LiveView, page
from attnviz.models.catalogue import EXAMPLES
from attnviz.runs.head_matrix import raw_heads
from attnviz.runs.model_run import Request, kept_run
from tests.browser.conftest import answered, opens, until

LAYER, HEAD = 13, 8
#: Of 32 bits a score, where the trace may be of another processor (5e-6 apart at most in this layer), and of 16.
EXACT, COARSE = 1e-5, 2e-3
Open = Callable[..., Any]


@pytest.fixture(scope="module")
def stack() -> Any:
    """What the server shows."""
    return kept_run(Request("smollm2-135m", EXAMPLES[0].text)).stacks[0]


explore = opens("explore", "[data-testid=squares]")


def weights_of(stack: Any, head: int, **change: Any) -> np.ndarray:
    found: np.ndarray = stack.layers[LAYER].weights(head, **change)[0, 0].float().numpy()
    return found


def heads(page: Any) -> list[int]:
    """The heads in the picture, the one on show first."""
    said = page.get_by_test_id("lines").first.get_attribute("data-heads") or ""
    return [int(part.split(":")[0]) for part in said.split()]


def colours(page: Any) -> list[str]:
    said = page.get_by_test_id("lines").first.get_attribute("data-heads") or ""
    return [part.split(":")[1] for part in said.split()]


def drawn(page: Any) -> list[np.ndarray]:
    found = page.get_by_test_id("lines").first.evaluate("stage => stage.matrices()")
    return [np.array([[0.0 if cell is None else cell for cell in row] for row in head]) for head in found]


def square(page: Any, head: int) -> Any:
    return page.get_by_test_id("squares").first.locator(f"[data-head='{head}']")


def test_squares_lay_heads_over_each_other_and_the_link_keeps_them(explore: Open, stack: Any) -> None:
    page = explore()
    assert heads(page) == [HEAD]
    assert colours(page) == [""], "one head alone goes from Q's colour to K's"
    for head in (2, 5):
        square(page, head).click()
    until(lambda: heads(page) == [8, 2, 5])
    assert len(set(colours(page))) == 3
    for head, found in zip(heads(page), drawn(page), strict=True):
        assert np.abs(found - weights_of(stack, head)).max() < (EXACT if head == HEAD else COARSE)
    legend = page.get_by_test_id("legend").first
    expect(legend).to_contain_text("head 5")
    row = int(weights_of(stack, 5)[8].argmax())
    page.locator(".av-chips[data-axis=q] .av-chip").nth(8).hover()
    expect(legend).to_contain_text(f"{weights_of(stack, 5)[8, row]:.2f}")
    expect(square(page, HEAD)).to_have_attribute("aria-disabled", "true")
    page.wait_for_url(re.compile("c="))
    answered(page)
    again = explore("?" + page.url.split("?")[1])
    until(lambda: heads(again) == [8, 2, 5])  # the others come after the first picture
    square(again, 2).click()
    until(lambda: heads(again) == [8, 5])
    again.get_by_role("button", name="Only the head on show").click()
    until(lambda: heads(again) == [HEAD])
    expect(again.get_by_test_id("legend").first).to_be_hidden()


def test_heads_laid_over_follow_mask_and_scale_where_these_reach_them(explore: Open, stack: Any) -> None:
    page = explore()
    square(page, 3).click()
    until(lambda: heads(page) == [8, 3])
    page.locator(".av-mark[data-mark=none]").first.click()
    until(lambda: np.abs(drawn(page)[0] - weights_of(stack, 8, scale=None)).max() < EXACT)
    assert np.abs(drawn(page)[1] - weights_of(stack, 3)).max() < COARSE, "the change is for one head"
    page.get_by_test_id("where").first.select_option("layer")
    until(lambda: np.abs(drawn(page)[1] - weights_of(stack, 3, scale=None)).max() < 10 * COARSE)


def test_keys_and_fingers_lay_heads_over_each_other(explore: Open) -> None:
    page = explore()
    square(page, 0).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    until(lambda: heads(page) == [8, 1])
    page.keyboard.press("End")
    page.keyboard.press("Space")
    assert heads(page) == [8, 1], "the head on show stays"
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    until(lambda: heads(page) == [8, 1, 0])
    expect(
        page.locator("[role=status]", has_text="Lines of head 0 laid over: 3 heads in the lines").first
    ).to_be_attached()
    phone = explore(width=390, height=844, has_touch=True, is_mobile=True)
    square(phone, 4).scroll_into_view_if_needed()
    square(phone, 4).tap()
    until(lambda: heads(phone) == [8, 4])
    assert square(phone, 4).bounding_box()["height"] >= 24


def test_a_longer_sentence_asks_for_the_heads_that_it_lacks(explore: Open) -> None:
    text = "+".join(["The", "animal", "was", "tired", "and"] * 16)
    page = explore(f"?text={text}&at=3.1")
    square(page, 6).click()
    until(lambda: heads(page) == [1, 6])
    assert drawn(page)[1].shape[0] > 64
    assert abs(drawn(page)[1].sum() - len(drawn(page)[1])) < 1e-3


def test_a_live_file_lays_heads_over_each_other_with_the_network_cut(
    stack: Any, tmp_path: Path, new_page: Open
) -> None:
    counts = [layer.n_heads for layer in stack.layers]
    view = LiveView(raw_heads(stack.layers), counts, [3] * 30, stack.queries.labels, at=(LAYER, HEAD), over=(2, 7))
    (tmp_path / "live.html").write_text(page(view), encoding="utf-8")
    alone = new_page(offline=True, bypass_csp=False)
    alone.goto((tmp_path / "live.html").as_uri())
    until(lambda: heads(alone) == [8, 2, 7])
    square(alone, 7).click()
    square(alone, 0).click()
    until(lambda: heads(alone) == [8, 2, 0])
    for head, found in zip(heads(alone), drawn(alone), strict=True):
        assert np.abs(found - weights_of(stack, head)).max() < COARSE
