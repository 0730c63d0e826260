"""Copied embed code of a page and of a figure: what another page then shows, and how it answers there."""

import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser.canvas_places import name_on
from tests.browser.conftest import answered
from tests.browser.saving import copied, open_menu, press_in_menu
from tests.waiting import until


def embedded(code: str) -> tuple[str, dict[str, list[str]]]:
    """What an embed code frames, and the choices in its address."""
    assert code.startswith("<iframe ")
    source = unescape(re.search(r'src="([^"]+)"', code)[1])
    return source, parse_qs(urlsplit(source).query)


def test_the_embed_code_shows_the_view_with_its_menu_folded_and_keeps_it_so(opened, new_page):
    page = opened("explore?at=5.4")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Share").first.click()
    source, asked = embedded(copied(page, "Copy embed code"))
    assert asked == {"at": ["5.4"], "embed": ["true"]}
    inside = new_page()
    inside.goto(source)
    expect(inside.locator(".av-title").first).to_have_text(re.compile("Layer 5, head 4"), timeout=60_000)
    answered(inside)
    expect(inside.get_by_role("link", name="Masks")).not_to_be_in_viewport()
    expect(inside.get_by_test_id("stMainMenu")).not_to_be_visible()
    inside.mouse.click(*name_on(inside.get_by_test_id("heatmap").first, 2, 13))
    inside.wait_for_url(re.compile(r"[?&]c="))
    assert "embed=true" in inside.url


#: figures of each kind, alone: a canvas with its sentence in it, a chart, canvases side by side, one behind a table
FIGURES = {
    "explore?at=5.4": "head-out",
    "scaling": "s_growth",
    "sharing": "h-three",
    "pictures": "patches-out",
}


def shown_alone(page) -> list[str]:
    """What of the page takes up room: the keys of its elements, "" for those without one."""
    return page.evaluate(
        """() => [...document.querySelectorAll(".stMainBlockContainer [data-testid=stElementContainer]")]
            .filter((box) => box.getBoundingClientRect().height > 0)
            .map((box) => (box.className.match(/st-key-(\\S+)/) ?? ["", ""])[1])"""
    )


@pytest.mark.parametrize("where", FIGURES)
def test_the_embed_code_of_a_figure_shows_it_alone_and_it_answers_as_in_the_app(opened, new_page, where):
    page, key = opened(where, reduced_motion="reduce"), FIGURES[where]
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    open_menu(page.locator(f".st-key-{key}-save-menu button").first)
    press_in_menu(page.get_by_role("button", name="Copy embed code of this figure"))
    until(lambda: page.evaluate("navigator.clipboard.readText()").startswith("<iframe "))
    source, asked = embedded(page.evaluate("navigator.clipboard.readText()"))
    wanted = parse_qs(urlsplit(where).query)
    assert asked == wanted | {"figure": [key], "embed": ["true"]}

    inside = new_page(width=800, height=640, reduced_motion="reduce")
    inside.goto(source)
    drawn = inside.locator(f":has(+ [data-testid=stLayoutWrapper] > .st-key-{key}-under)")
    expect(drawn).to_be_visible(timeout=60_000)
    expect(inside.locator(f".st-key-{key}-save-menu")).to_be_visible(timeout=60_000)
    answered(inside)
    until(lambda: (drawn.bounding_box() or {"height": 0})["height"] > 150)
    assert 1 < len(shown_alone(inside)) < 8
    expect(inside.get_by_role("heading", level=1)).to_have_count(0)
    expect(inside.get_by_role("link", name="Masks")).not_to_be_visible()
    back = inside.get_by_role("link", name="Open in attnviz").get_attribute("href")
    assert parse_qs(urlsplit(back).query) == wanted
    if key == "head-out":
        inside.mouse.click(*name_on(inside.get_by_test_id("heatmap").first, 2, 13))
        inside.wait_for_url(re.compile(r"[?&]c="))
        answered(inside)
        assert "figure=head-out" in inside.url
