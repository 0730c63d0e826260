"""The scaling page in a real Chromium: bars that follow their slider without Python, training that can be stopped."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from attnviz.pages.scaling.maths import growing_width
from attnviz.pages.scaling.maths.alternatives import ALTERNATIVES, CHOICES
from attnviz.pages.scaling.panels.scaling_form import names
from tests.browser.conftest import answered, opens

Open = Callable[..., Any]


open_scaling = opens("scaling", "text=This section in PyTorch")


def facts(page: Any) -> list[str]:
    """Largest weight, entropy and effective keys of each row of bars, in order."""
    return [text for text in page.locator(".ss-fact b").all_inner_texts() if text]


def move(page: Any, what: str, stop: int, let_go: bool) -> None:
    """Drag a slider of the bars to a stop; `let_go` releases it there."""
    page.locator(f'.ss-range[data-what="{what}"]').evaluate(
        """(input, [stop, letGo]) => {
            input.value = stop;
            input.dispatchEvent(new Event("input", {bubbles: true}));
            if (letGo) input.dispatchEvent(new Event("change", {bubbles: true}));
        }""",
        [stop, let_go],
    )


def test_the_bars_show_pythons_numbers_and_move_without_it(new_page: Open, server_url: str) -> None:
    page = new_page()
    sent: list[str] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda _frame: sent.append("frame")))
    page.goto(f"{server_url}/scaling?s_section=saturation")
    page.get_by_text("This section in PyTorch").wait_for(timeout=60_000)
    page.locator(".ss-fact b").filter(has_text="%").first.wait_for()
    row = growing_width.run(growing_width.Config())
    assert facts(page)[0] == f"{row.raw.largest:.1%}"
    assert facts(page)[3] == f"{row.scaled.largest:.1%}"
    answered(page)
    before = len(sent)
    assert before, "the page spoke to Python when it opened"
    grid = growing_width.film_grid(16)
    for d_k in (1, 2, 1024, 4096):
        move(page, "d_k", grid.index(d_k), let_go=False)
        there = growing_width.run(growing_width.Config(d_k))
        assert facts(page)[3] == f"{there.scaled.largest:.1%}"
    assert len(sent) == before
    assert page.get_by_text(re.compile("At d_k = 64 the raw row")).is_visible(), "Python has not heard of it yet"
    move(page, "d_k", grid.index(1024), let_go=True)
    page.get_by_text(re.compile("At d_k = 1024 the raw row")).wait_for()
    assert len(sent) == before + 1, "only the last move was sent"


@pytest.mark.every_commit
def test_releasing_the_slider_updates_python_and_the_link(open_scaling: Open) -> None:
    page = open_scaling("?s_section=saturation&s_beside=temperature")
    page.locator(".ss-canvas").first.wait_for()
    move(page, "d_k", growing_width.film_grid(16).index(1024), let_go=True)
    page.get_by_text(re.compile("At d_k = 1024 the raw row")).wait_for()
    page.wait_for_url("**s_dk=1024*")
    move(page, "parameter", 1000, let_go=True)
    page.wait_for_url("**s_temperature=100*")
    page.reload()
    page.get_by_text(re.compile("At d_k = 1024 the raw row")).wait_for()
    page.locator(".ss-value").nth(1).filter(has_text="100").wait_for()
    assert page.locator(".ss-value").all_inner_texts() == ["1024", "100"]


def test_every_alternative_is_computed_alike_in_the_browser_and_in_python(open_scaling: Open) -> None:
    page = open_scaling("?s_section=alternatives&s_dk=64")
    page.locator(".ss-canvas").nth(2).wait_for()
    for name, words in names().items():
        if name not in CHOICES:
            continue
        if name != CHOICES[0]:
            page.get_by_label("Alternative", exact=True).click()
            page.get_by_role("option", name=words, exact=True).click()
            page.locator(".ss-name").nth(2).filter(has_text=words).wait_for()
        row = growing_width.run(growing_width.Config(64, 16, 0, name, ALTERNATIVES[name].default)).alternative
        assert facts(page)[6] == f"{row.largest:.1%}"
        assert float(facts(page)[7]) == pytest.approx(row.entropy, rel=5e-3)


def test_playing_sweeps_to_the_end_and_then_updates_python(open_scaling: Open) -> None:
    page = open_scaling("?s_section=saturation&s_dk=2896")
    page.locator(".ss-canvas").first.wait_for()
    page.locator(".ss-play").click()
    page.get_by_text(re.compile("At d_k = 4096 the raw row")).wait_for()


def test_temperature_0_in_the_browser_is_one_hot(open_scaling: Open) -> None:
    page = open_scaling("?s_section=softmax")
    page.locator(".ss-canvas").first.wait_for()
    assert facts(page)[0] == ">99.9%" or facts(page)[0] == "99.9%"
    move(page, "parameter", 0, let_go=True)
    page.get_by_text("At T = 0 all weight is on the largest score").wait_for()
    assert facts(page)[0] == "100.0%"


def test_a_stopped_training_keeps_its_curves(new_page: Open, server_url: str) -> None:
    page = new_page()
    page.goto(f"{server_url}/scaling?s_section=training&s_steps=2000&s_seeds=8&s_dk=512")
    page.get_by_text(re.compile(r"step \d+ of 2000")).wait_for()
    page.get_by_role("button", name="Stop").click()
    page.get_by_text(re.compile(r"Stopped at step \d+ of 2000")).wait_for()
    page.get_by_role("button", name="Start again").wait_for()
