"""The sections of Fast attention that count and measure, in a browser: a bar that stops, steps that are chosen."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import answered, at_rest, resized, still, until
from tests.browser.saving import open_menu, saved

CHART = ".js-plotly-plot"


@pytest.mark.slow
def test_a_mask_halves_what_tiles_move_and_the_picture_is_saved(server_url, new_page):
    page = new_page()
    page.goto(f"{server_url}/fast?fast_section=cost")
    at_rest(page, f".st-key-fast-moved {CHART}")
    words = page.locator(".st-key-fast-moved-under")
    expect(words).to_contain_text("3.4 times fewer")
    page.locator(".st-key-fast_causal label").click()
    expect(words).to_contain_text("6.39 times fewer", timeout=30_000)
    answered(page)
    assert "fast_causal=true" in page.url
    open_menu(page.locator(".st-key-fast-moved-save-menu button").first)
    svg = Path(saved(page, page.locator("button[data-kind=svg]")).path()).read_text("utf-8")
    assert "whole matrix" in svg


@pytest.mark.slow
def test_a_measurement_grows_until_it_is_stopped_and_goes_on(server_url, new_page):
    page = new_page()
    page.goto(f"{server_url}/fast?fast_section=measured")
    at_rest(page, f".st-key-fast-seconds {CHART}")
    page.get_by_role("button", name="Measure on this machine").click()
    bar = page.locator(".st-key-live-fast-measured")
    bar.wait_for(timeout=60_000)
    until(lambda: int((re.search(r"(\d+) measurements", bar.inner_text()) or [0, 0])[1]) > 3, seconds=60)
    page.add_style_tag(content="* { transition: none !important }")  # else Streamlit dims only after a second or two
    late = page.locator('.st-key-fast-growing .stElementContainer[data-stale="true"]:has(.stPlotlyChart)')
    seen: list[str] = []
    until(lambda: seen.extend(late.evaluate_all("all => all.map((one) => getComputedStyle(one).opacity)")) or seen, 60)
    assert set(seen) == {"1"}
    bar.get_by_role("button", name="Stop").click()
    expect(bar.get_by_role("button", name="Go on")).to_be_visible(timeout=60_000)
    expect(page.locator(f".st-key-fast-seconds {CHART}").first).to_be_visible()


@pytest.mark.slow
def test_a_step_is_chosen_by_the_keys_and_the_block_table_follows(server_url, new_page):
    page = new_page()
    page.goto(f"{server_url}/fast?fast_section=paged")
    at_rest(page, f".st-key-fast-blocks {CHART}", f".st-key-fast-block-table {CHART}")
    words = page.locator(".st-key-fast-blocks-under")
    expect(words).to_contain_text("after step 20")
    page.get_by_role("slider", name="Step").press("ArrowRight")
    expect(words).to_contain_text("after step 21", timeout=30_000)
    answered(page)
    assert "fast_step=21" in page.url


def test_a_legend_stands_clear_of_its_chart_when_the_window_has_grown(opened):
    page = opened("fast?fast_section=cost", ".js-plotly-plot .legend", width=1280, height=720)
    still(page)
    resized(page, 1920, 1080)
    over = """() => [...document.querySelectorAll(".js-plotly-plot")].filter((chart) => {
        const box = (part) => chart.querySelector(part)?.getBoundingClientRect();
        const [legend, plot] = [box(".legend .bg"), box(".nsewdrag")];
        return legend && legend.bottom > plot.top + 3 && legend.top < plot.bottom - 3;
    }).length"""
    assert page.locator(".js-plotly-plot .legend").count() > 2
    assert page.evaluate(over) == 0
