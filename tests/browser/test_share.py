"""Copy link and copy embed code, on every page: what the clipboard gets opens the same view."""

import re
from collections.abc import Callable
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from attnviz.serve.page_table import PAGES
from tests.browser.conftest import answered
from tests.browser.saving import press_in_menu
from tests.waiting import until

Open = Callable[..., Any]

#: views of pages, and the words by which one sees that it is that view
VIEWS = {
    "home": ("?causal=false", "What is attention?"),
    "explore": ("?at=5.4", "Layer 5, head 4"),
    "build": ("?b_step=softmax", "Softmax"),
    "masks": ("?m_view=far", "At 4,096 words"),
    "scaling": ("?s_section=softmax", "Why divide by √d_k?"),
    "sharing": ("?h_view=size", "Share keys and values"),
}


@pytest.fixture
def copying(server_url: str, new_page: Open) -> Open:
    """`copying("/explore?at=5.4")`: a view with its share menu open, in a browser that lets a page copy."""

    def opened(where: str, **options: Any) -> Any:
        page = new_page(permissions=["clipboard-read", "clipboard-write"], **options)
        page.goto(server_url + where)
        answered(page)
        page.get_by_role("button", name="Share").first.click()
        page.get_by_role("button", name="Copy link", exact=True).wait_for()
        return page

    return opened


def copied(page: Any, button: str) -> str:
    page.get_by_role("button", name=button, exact=True).click()
    page.get_by_text("Copied.", exact=True).wait_for()
    return page.evaluate("navigator.clipboard.readText()")


@pytest.mark.parametrize("name", [row.name for row in PAGES])
def test_every_page_copies_its_link_and_its_embed_code_on_a_phone_and_the_link_opens_the_same_view(
    copying: Open, new_page: Open, server_url: str, name: str
) -> None:
    path = "/" if name == "home" else f"/{name}"
    query, words = VIEWS.get(name, ("", ""))
    page = copying(path + query, width=390, height=844)
    link = copied(page, "Copy link")
    assert link.startswith(server_url)
    assert urlsplit(link).path.rstrip("/") == path.rstrip("/")
    asked = parse_qs(query.removeprefix("?"))
    assert parse_qs(urlsplit(link).query) == asked
    page.get_by_role("button", name="Copy embed code", exact=True).click()
    page.wait_for_function("navigator.clipboard.readText().then((text) => text.startsWith('<iframe '))")
    code = page.evaluate("navigator.clipboard.readText()")
    source = unescape(re.search(r'src="([^"]+)"', code)[1])
    assert urlsplit(source).path.rstrip("/") == path.rstrip("/")
    assert parse_qs(urlsplit(source).query) == {**asked, "embed": ["true"]}
    if words:
        other = new_page()
        other.goto(link)
        expect(other.get_by_text(words).filter(visible=True).first).to_be_visible(timeout=60_000)
        answered(other)
        assert parse_qs(urlsplit(other.url).query) == asked


def test_the_embed_code_shows_the_view_with_its_menu_folded_and_keeps_it_so(copying: Open, new_page: Open) -> None:
    page = copying("/explore?at=5.4")
    code = copied(page, "Copy embed code")
    assert code.startswith("<iframe ")
    source = unescape(re.search(r'src="([^"]+)"', code)[1])
    assert parse_qs(urlsplit(source).query) == {"at": ["5.4"], "embed": ["true"]}
    inside = new_page()
    inside.goto(source)
    expect(inside.locator(".av-title").first).to_have_text(re.compile("Layer 5, head 4"), timeout=60_000)
    answered(inside)
    expect(inside.get_by_role("link", name="Masks")).not_to_be_in_viewport()
    expect(inside.get_by_test_id("stMainMenu")).not_to_be_visible()
    inside.locator(".av-chip").nth(2).click()
    inside.wait_for_url(re.compile(r"[?&]c="))
    assert "embed=true" in inside.url


def test_without_leave_to_use_the_clipboard_the_text_is_still_copied(server_url: str, new_page: Open) -> None:
    page = new_page()
    page.add_init_script("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.goto(f"{server_url}/scaling")
    answered(page)
    page.get_by_role("button", name="Share").first.click()
    page.evaluate("document.addEventListener('copy', (event) => (window.heard = event.composedPath()[0].value))")
    button = page.get_by_role("button", name="Copy link", exact=True)
    button.click()
    page.get_by_text("Copied.", exact=True).wait_for()
    assert page.evaluate("window.heard") == f"{server_url}/scaling"


#: figures of each kind, alone: a canvas with its sentence in it, a chart, canvases side by side, one behind a table
FIGURES = {
    "explore?at=5.4": "head-out",
    "scaling": "s_growth",
    "masks": "m-before-save",
    "sharing": "h-three",
    "pictures": "patches-out",
}


def shown_alone(page: Any) -> list[str]:
    """What of the page takes up room: the keys of its elements, "" for those without one."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll(".stMainBlockContainer [data-testid=stElementContainer]")]
            .filter((box) => box.getBoundingClientRect().height > 0)
            .map((box) => (box.className.match(/st-key-(\\S+)/) ?? ["", ""])[1])"""
    )
    return found


@pytest.mark.parametrize("where", FIGURES)
def test_the_embed_code_of_a_figure_shows_it_alone(copying: Open, new_page: Open, where: str) -> None:
    page, key = copying(f"/{where}"), FIGURES[where]
    page.keyboard.press("Escape")
    page.locator(f".st-key-{key}-export button").first.click()
    press_in_menu(page.get_by_role("button", name="Copy embed code of this figure"))
    page.wait_for_function("navigator.clipboard.readText().then((text) => text.startsWith('<iframe '))")
    code = page.evaluate("navigator.clipboard.readText()")
    source = unescape(re.search(r'src="([^"]+)"', code)[1])
    wanted = parse_qs(urlsplit(f"/{where}").query)
    assert parse_qs(urlsplit(source).query) == wanted | {"figure": [key], "embed": ["true"]}

    inside = new_page(width=800, height=640)
    inside.goto(source)
    drawn = inside.locator(f":has(+ [data-testid=stLayoutWrapper] > .st-key-{key}-under)")
    expect(drawn).to_be_visible(timeout=60_000)
    expect(inside.locator(f".st-key-{key}-export")).to_be_visible(timeout=60_000)
    answered(inside)
    until(lambda: (drawn.bounding_box() or {"height": 0})["height"] > 150)
    assert 1 < len(shown_alone(inside)) < 8
    expect(inside.get_by_role("heading", level=1)).to_have_count(0)
    expect(inside.get_by_role("link", name="Masks")).not_to_be_visible()
    back = inside.get_by_role("link", name="Open in attnviz").get_attribute("href")
    assert parse_qs(urlsplit(back).query) == wanted


def test_a_figure_inside_another_page_answers_as_in_the_app(server_url: str, new_page: Open) -> None:
    inside = new_page(width=800, height=640)
    inside.goto(f"{server_url}/explore?at=5.4&embed=true&figure=head-out")
    inside.locator(".av-chip").nth(2).click(timeout=60_000)
    inside.wait_for_url(re.compile(r"[?&]c="))
    answered(inside)
    assert "figure=head-out" in inside.url
    expect(inside.locator(".av-title").first).to_have_text(re.compile("Layer 5, head 4"))
    expect(inside.locator(".av-title").first).to_be_visible()
    assert 1 < len(shown_alone(inside)) < 8


def test_a_figure_that_the_page_has_not_is_a_sentence_that_names_those_it_has(server_url: str, new_page: Open) -> None:
    inside = new_page()
    inside.goto(f"{server_url}/scaling?embed=true&figure=<b>none</b>")
    said = inside.get_by_text("This page shows no figure called")
    expect(said).to_be_visible(timeout=60_000)
    assert "<b>none</b>" in said.inner_text()
    assert "s_growth" in said.inner_text()
    whole = new_page()
    whole.goto(f"{server_url}/scaling?figure=s_growth")
    expect(whole.get_by_role("heading", level=1)).to_be_visible(timeout=60_000)
    expect(whole.locator(".st-key-s_histograms").first).to_be_visible(timeout=60_000)
