"""The page Why this token? in a browser: cells that come until they are stopped, a circuit that is moved and saved."""

import re
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.conftest import answered, at_rest, until
from tests.browser.saving import open_menu, saved

LONG = "why?why_section=patches&why_text=When+Mary+and+John+went+to+the+store,+John+gave+a+drink+to"
CHART = ".js-plotly-plot"


def cells(bar) -> tuple[int, int]:
    """How many are computed and how many are to be; none while the bar says nothing yet."""
    said = re.search(r"(\d+) of (\d+) cells", bar.inner_text())
    return (int(said[1]), int(said[2])) if said else (0, 0)


def test_cells_come_one_after_the_other_until_they_are_stopped(server_url, new_page):
    page = new_page()
    page.goto(f"{server_url}/{LONG}")
    bar = page.locator(".st-key-live-why-patches")
    bar.wait_for(timeout=120_000)
    expect(page.locator(f".st-key-why-patches {CHART}").first).to_be_visible()
    until(lambda: cells(bar)[0] > 2, seconds=60)
    bar.get_by_role("button", name="Stop").click()
    expect(bar.get_by_role("button", name="Go on")).to_be_visible(timeout=60_000)
    done, of = cells(bar)
    assert 2 < done < of
    said = page.get_by_text("Exact and linearised cells correlate").inner_text()
    correlation = float(re.search(r"correlate with (−?\d\.\d+)", said)[1].replace("−", "-"))
    assert ("only: trust those with a dot" in said) == (correlation < 0.7), said


def test_a_circuit_says_what_it_keeps_and_is_saved(server_url, new_page):
    page = new_page()
    page.goto(f"{server_url}/why?why_section=circuit")
    at_rest(page, f".st-key-why-circuit {CHART}")
    expect(page.locator(".st-key-live-why-circuit")).to_have_count(0, timeout=120_000)
    answered(page)
    expect(page.get_by_text(re.compile(r"With 23\.4.* of the difference stays"))).to_be_visible()
    plot = page.locator(f".st-key-why-circuit {CHART}")
    before = plot.evaluate("(plot) => plot._fullLayout.xaxis.range")
    box = plot.locator(".nsewdrag").bounding_box()
    page.mouse.move(box["x"] + 100, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + 160, box["y"] + 120, steps=4)
    page.mouse.up()
    until(lambda: plot.evaluate("(plot) => plot._fullLayout.xaxis.range") != before)  # it is moved by hand
    open_menu(page.locator(".st-key-why-circuit-save-menu button").first)
    svg = Path(saved(page, page.locator("button[data-kind=svg]")).path())
    assert "23.4" in svg.read_text("utf-8")
