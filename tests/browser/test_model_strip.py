"""Where the head on show sits: the strip chooses layers and heads by mouse, keys and touch, and says true numbers."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from attnviz.models.loading import load
from tests.browser.conftest import answered, widest
from tests.browser.every_view import GROUND, STILL

Open = Callable[..., Any]


@pytest.fixture
def explore(server_url: str, new_page: Open) -> Open:
    def opened(query: str = "", **options: Any) -> Any:
        page = new_page(**options)
        page.goto(f"{server_url}/explore?open_place=true{query}")
        page.get_by_test_id("inside").wait_for(timeout=90_000)
        answered(page)
        return page

    return opened


def title(page: Any, words: str) -> None:
    page.locator(".av-title", has_text=words).first.wait_for()


def test_the_strip_shows_the_models_own_numbers_and_the_head_on_show(explore: Open) -> None:
    page = explore()
    model = load("smollm2-135m").model
    total = sum(p.numel() for p in model.parameters())
    block = model.model.layers[13]
    inside = page.get_by_test_id("inside")
    for part in (block.self_attn, block.mlp):
        count = sum(p.numel() for p in part.parameters())
        expect(inside).to_contain_text(f"{count:,} parameters, {count / total:.2%}")
    for name in ("q_proj", "k_proj"):
        rows, columns = getattr(block.self_attn, name).weight.shape
        expect(inside).to_contain_text(f"{name} {rows:,} × {columns:,}")
    embedding = model.get_input_embeddings().weight
    expect(page.locator(".ms-flow").first).to_contain_text(f"{embedding.numel():,} parameters")
    expect(page.locator(".ms-block[aria-pressed=true]")).to_have_attribute("data-layer", "13")
    expect(page.locator(".ms-head[aria-pressed=true]")).to_have_attribute("data-head", "8")


def test_a_press_on_a_block_or_a_head_chooses_it_and_the_overview_lights_the_strip(explore: Open) -> None:
    page = explore()
    page.locator(".ms-block[data-layer='4']").click()
    title(page, "Layer 4, head 8")
    page.wait_for_url(re.compile(r"at=4\.8"))
    answered(page)
    page.locator(".ms-head[data-head='2']").click()
    title(page, "Layer 4, head 2")
    page.wait_for_url(re.compile(r"at=4\.2"))
    answered(page)
    page.get_by_test_id("overview").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    title(page, "Layer 5, head 2")
    expect(page.locator(".ms-block[aria-pressed=true]")).to_have_attribute("data-layer", "5")


def test_keys_and_fingers_walk_the_blocks(explore: Open) -> None:
    page = explore()
    page.locator(".ms-block[data-layer='13']").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    title(page, "Layer 14, head 8")
    page.wait_for_url(re.compile(r"at=14\.8"))
    phone = explore(width=390, height=844, has_touch=True, is_mobile=True)
    block = phone.locator(".ms-block[data-layer='20']")
    block.scroll_into_view_if_needed()
    assert block.bounding_box()["width"] >= 24
    block.tap()
    title(phone, "Layer 20, head 8")
    assert widest(phone) <= 390


def test_from_tokens_to_the_next_token_is_one_line_where_there_is_room(explore: Open) -> None:
    page = explore(width=1280, height=720)
    flow = page.locator(".ms-flow").first
    expect(flow).to_contain_text("no parameters of its own")
    for width, height in ((1280, 720), (1440, 900)):
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate(STILL, GROUND["light"])
        boxes = [box.bounding_box() for box in flow.locator("> .ms-box").all()]
        assert len(boxes) == 5
        assert {round(box["y"]) for box in boxes} == {round(boxes[0]["y"])}
        cut = "(flow) => [...flow.children].filter((b) => b.scrollWidth > b.clientWidth).length"
        assert flow.evaluate(cut) == 0
