"""What a page does before a visitor has asked for it: what it fetches, and how far it jumps while it comes."""

from collections.abc import Callable
from typing import Any

import pytest

from attnviz.app.page_entry import CHART, Page
from attnviz.serve.page_table import PAGES
from tests.browser.conftest import answered

Open = Callable[..., Any]
HIGHLIGHTER = "StreamlitSyntaxHighlighter"
#: The browser's own measure of how much moved by itself, and how far; from 0.1 on, people are disturbed by it.
LARGEST_SHIFT = 0.1
WATCH_SHIFTS = """(() => {
    const shifts = globalThis.shifts = [];
    const key = (node) => /st-key-[\\w-]+/.exec((node?.closest ? node : node?.parentElement)
        ?.closest("[class*=st-key-]")?.className)?.[0] ?? "?";
    new PerformanceObserver((list) => {
        for (const {hadRecentInput, value, sources} of list.getEntries()) {
            if (!hadRecentInput) shifts.push([value, ...sources.map(({node}) => key(node))]);
        }
    }).observe({type: "layout-shift", buffered: true});
})()"""


def fetched(page: Any) -> list[str]:
    """The names of the scripts that are asked for from now on."""
    found: list[str] = []
    page.on("request", lambda request: found.append(request.url.rsplit("/", 1)[-1]))
    return found


def stays(page: Any) -> None:
    """Nothing that is read has jumped while the page came."""
    shifts = page.evaluate("shifts")
    assert sum(value for value, *_keys in shifts) < LARGEST_SHIFT, shifts


@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.name)
def test_no_page_begins_with_the_highlighter_and_those_with_charts_begin_with_plotly(
    server_url: str, new_page: Open, entry: Page
) -> None:
    page = new_page(stranger=True)
    scripts = fetched(page)
    page.add_init_script(WATCH_SHIFTS)
    page.goto(f"{server_url}/{'' if entry.is_home else entry.name}")
    page.get_by_test_id("stMain").get_by_role("heading").first.wait_for(timeout=90_000)
    answered(page)
    page.wait_for_load_state("networkidle")
    assert scripts
    if CHART in entry.scripts:
        assert [script for script in scripts if script.startswith(CHART)]
    assert not [script for script in scripts if script.startswith(HIGHLIGHTER)]
    stays(page)


@pytest.mark.parametrize("name", ["", "explore", "positions", "build", "compare", "lessons", "sharing"])
def test_nothing_jumps_on_a_phone(server_url: str, new_page: Open, name: str) -> None:
    page = new_page(width=390, height=844)
    page.add_init_script(WATCH_SHIFTS)
    page.goto(f"{server_url}/{name}")
    page.get_by_test_id("stMain").get_by_role("heading").first.wait_for(timeout=90_000)
    answered(page)
    page.wait_for_load_state("networkidle")
    stays(page)


def test_a_program_comes_with_its_highlighter_when_it_is_opened(server_url: str, new_page: Open) -> None:
    page = new_page(stranger=True)
    scripts = fetched(page)
    page.goto(f"{server_url}/scaling")
    page.get_by_text("This section in PyTorch").wait_for(timeout=90_000)
    answered(page)
    assert page.get_by_test_id("stCode").count() == 0
    page.get_by_text("This section in PyTorch").click()
    page.get_by_test_id("stCode").first.wait_for()
    assert "import torch" in page.get_by_test_id("stCode").first.inner_text()
    page.wait_for_function(f"performance.getEntriesByType('resource').some(one => one.name.includes('{HIGHLIGHTER}'))")
    assert [script for script in scripts if script.startswith(HIGHLIGHTER)]
