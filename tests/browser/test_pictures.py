"""The page about pictures in a real Chromium: point, pin, hide, draw, open again; on a phone as well."""

import re
from typing import Any

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from attnviz.models.loading import load
from attnviz.models.pictures import held_out_digits, join_digits
from attnviz.pages.pictures.maths.picture_run import run_picture
from tests.browser.canvas_places import drag
from tests.browser.conftest import answered, cut_off, still, until
from tests.browser.layout_faults import layout_faults
from tests.browser.picture_first import out_of_room


@pytest.fixture
def open_pictures(opened):
    """`open_pictures("?pic_digits=8")`: the page with its picture and the sentence of a row."""
    drawn = "[data-testid=picture]", "[data-testid=read] >> text=patches"
    return lambda query="", **window: opened(f"pictures{query}", *drawn, **window)


def centre_of(page: Any, row: int, column: int, rows: int = 8, columns: int = 8) -> tuple[float, float]:
    """The middle of a patch on screen; rows and columns count from 0."""
    page.get_by_test_id("picture").scroll_into_view_if_needed()
    box = page.get_by_test_id("picture").bounding_box()
    return box["x"] + (column + 0.5) * box["width"] / columns, box["y"] + (row + 0.5) * box["height"] / rows


def read(page: Any) -> str:
    return str(page.get_by_test_id("read").inner_text())


def title(page: Any) -> str:
    return str(page.locator(".pv-title").inner_text())


def test_pins_the_head_and_what_lies_over_the_picture_come_back_with_the_link(open_pictures):
    page = open_pictures()
    page.mouse.click(*centre_of(page, 2, 5))
    page.mouse.click(*centre_of(page, 4, 1))
    until(lambda: page.get_by_test_id("pins").locator("button").count() == 2)
    page.locator(".pv-tile[data-head='2.1']").click()
    page.wait_for_url("**pic_head=1*")
    answered(page)
    page.get_by_role("button", name="Rollout").or_(page.locator("[data-shows=rollout]")).first.click()
    page.wait_for_url(lambda url: "pic_shows=rollout" in url and "pic_head=1" in url and "pic_view" in url)
    again = open_pictures("?" + page.url.split("?")[1])
    until(lambda: again.get_by_test_id("pins").locator("button").count() == 2)
    until(lambda: title(again) == "Attention followed through layers 0 to 2")  # played once up to the layer on show
    assert again.url.split("?")[1] == page.url.split("?")[1]


def test_painting_over_patches_and_silencing_a_head_change_what_the_model_says(open_pictures):
    page = open_pictures("?pic_digits=8", width=1280, height=720)
    page.get_by_text("The model says eight").wait_for()
    still(page)
    assert out_of_room(page, "light") == []
    page.get_by_test_id("hide").click()
    drag(page, centre_of(page, 1, 1), centre_of(page, 1, 6), centre_of(page, 6, 6))
    page.get_by_text("11 of 64 patches hidden").wait_for()
    page.get_by_title("Show all hidden patches again").click()
    page.get_by_text("The model says eight").wait_for()
    answered(page)
    page.locator(".pv-tile[data-head='1.2']").click()
    page.get_by_test_id("silence").click()
    page.get_by_text("silenced heads 1.2").wait_for()
    assert page.locator(".pv-tile[data-silenced]").get_attribute("data-head") == "1.2"


def test_rows_rollout_and_the_mean_of_layers_follow_hand_and_what_is_hidden_without_a_server(open_pictures):
    page = open_pictures("?pic_digits=8", stranger=True)
    assert read(page).startswith("From class token, ")
    run = run_picture(load("digit-vit"), join_digits([held_out_digits().pictures[held_out_digits().like(8)]]))
    hidden = list(range(9, 15))
    weights = []
    for layer in run.trace.layers:
        scores = (layer.q[0] @ layer.k[0].mT) * layer.scale
        weights.append(scores.index_fill(-1, torch.tensor(hidden) + 1, -torch.inf).softmax(-1))
    mean = torch.stack(weights).mean((0, 1))[0]
    half = [(each.mean(0) + torch.eye(65)) / 2 for each in weights]
    page.get_by_test_id("layer").fill("2")
    page.wait_for_url(lambda url: "pic_layer=2" in url)
    answered(page)
    cut_off(page)
    until(lambda: title(page) == "Layer 2, head 0")
    page.locator(".pv-layers button").click()
    until(lambda: title(page) == "Layer 3, head 0")
    assert page.get_by_test_id("layer").input_value() == "3"
    page.mouse.move(*centre_of(page, 2, 5))
    until(lambda: read(page).startswith("From row 3, column 6, "))
    first = page.locator(".pv-tile").nth(9).screenshot()
    page.mouse.move(*centre_of(page, 6, 1))
    until(lambda: read(page).startswith("From row 7, column 2, "))
    until(lambda: page.locator(".pv-tile").nth(9).screenshot() != first)
    page.get_by_test_id("hide").click()
    drag(page, centre_of(page, 1, 1), centre_of(page, 1, 6))
    page.mouse.move(0, 0)
    for shows, begins, row in (
        ("layers", "In all heads of all layers, class token gives", mean),
        ("rollout", "Through the layers so far, patches make up", (half[3] @ half[2] @ half[1])[0]),
    ):
        row = row if shows == "layers" else row @ half[0]
        wanted = [float(row[1:].sum()), *map(float, row.topk(3).values)]
        page.locator(f"[data-shows={shows}]").click()
        until(lambda begins=begins: read(page).startswith(begins))
        told = [float(each) / 100 for each in re.findall(r"([\d.]+)%", read(page))]
        np.testing.assert_allclose(told, wanted, atol=0.0011)
    expect(page.locator(".pv-bar")).to_contain_text("queries and keys are those that each head had before")
    page.context.set_offline(False)


def test_the_words_of_the_reader_are_walked_through_and_stay_on_a_phone(open_pictures):
    page = open_pictures("?pic_model=digit-reader&pic_digits=374", width=390, height=844, has_touch=True)
    still(page)
    assert layout_faults(page) == []
    until(lambda: page.locator(".pv-chip").all_inner_texts() == ["three", "seven", "four", "<end>"])
    said = page.get_by_test_id("read").evaluate_handle(
        """(read) => {
            const said = [];
            new MutationObserver(() => said.push(read.textContent)).observe(read, {
                childList: true, characterData: true, subtree: true,
            });
            return said;
        }"""
    )  # each word stands for a moment: on a busy machine asking from outside may come too late
    page.locator(".pv-play").click()
    for word in ("three", "seven", "four"):
        until(lambda word=word: any(each.startswith(f"From “{word}”, ") for each in said.json_value()))


def test_a_digit_is_drawn_on_the_picture_and_the_model_answers_while_the_pen_is_down(open_pictures):
    page = open_pictures()
    said = lambda page=page: page.get_by_test_id("answer").get_attribute("aria-label")  # noqa: E731
    four = said()
    page.mouse.move(*centre_of(page, 1, 2))
    page.mouse.down()
    page.mouse.move(*centre_of(page, 1, 5), steps=6)
    until(lambda: said() != four, 30)
    page.mouse.move(*centre_of(page, 6, 3), steps=6)
    page.mouse.up()
    page.wait_for_url("**pic_from=draw*")
    answered(page)
    assert page.get_by_test_id("pins").locator("button").count() == 0, "a stroke pins nothing"
    share = lambda: max(re.findall(r"[\d.]+%", said()), key=lambda each: float(each[:-1]))  # noqa: E731
    until(lambda: page.get_by_text(re.compile(rf"The model says \w+ and is {share()} sure")).count() == 1, 30)
    again = open_pictures("?" + page.url.split("?")[1])
    until(lambda: said(again) == said())
    page.get_by_role("button", name="Clear").click()
    page.get_by_text("Draw a digit on the picture: the model answers").wait_for()
    page.get_by_test_id("draw").click()
    until(lambda: said() == four, 30)
