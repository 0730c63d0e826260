"""Every page, section, step and menu is walked, in Chinese: no English is left but names, and axe finds no fault.

`python -m pytest tests/browser/test_every_view.py` takes some minutes; all views share one window. What is walked
follows the declarations: a page, a section or a lesson's picture that is added is walked, too.
"""

import json
import re
from collections.abc import Iterable
from functools import cache
from itertools import groupby

import pytest
from playwright.sync_api import expect

from attnviz.app.links.choices import choices_of
from attnviz.models.catalogue import EXAMPLES
from attnviz.models.loading import load
from attnviz.pages.heads.maths.sentence_sets import words_of_one_token
from attnviz.serve import page_table
from tests.browser.allowed_english import ALLOWED, NAMES, is_streamlits
from tests.browser.axe_faults import AXE, severe, severe_in_both_themes
from tests.browser.conftest import ROOT, answered, windows
from tests.browser.every_view import GROUND, STILL, opened, page_of, views
from tests.browser.shown_words import DRAWN, said_on, unfolded

pytestmark = pytest.mark.xdist_group("every-view")
WORD = re.compile(r"(?<![\w.\-_/=])[A-Za-z][A-Za-z'’]+(?![\w_/=])")
#: A token of the visitor's is a part of a word: "ired" of "tired".
VISITORS = " ".join(
    [
        *(example.text + " " + example.second for example in EXAMPLES),
        *(
            str(choice.default)
            for row in page_table.PAGES
            for choice in choices_of(row.name)
            if choice.kind == "text" and choice.default
        ),
    ]
)
WALKS = {name: list(held) for name, held in groupby(sorted(views(), key=page_of), page_of)}


@cache
def random_words() -> frozenset[str]:
    """Of which the texts on Heads are made, for the model that the page opens with."""
    return frozenset(words_of_one_token(load("smollm2-135m")))


def english_in(texts: Iterable[str]) -> dict[str, str]:
    """Each English word that is not allowed, and a text that it stands in."""
    found: dict[str, str] = {}
    for text in texts:
        if is_streamlits(text) or any(name.startswith(text) for name in NAMES):
            continue  # a cell of a table cuts what is long
        rest = text
        for name in NAMES:
            rest = rest.replace(name, " ")
        for word in WORD.findall(rest):
            if word not in ALLOWED and word.lower() not in VISITORS.lower():
                found.setdefault(word, text[:160])
    return found


#: Terms that explain themselves, with the same words wherever they stand.
TERMS = "[class*=st-key-terms-] [data-testid=stPopover] button:visible"


def names_of_terms(page) -> set[str]:
    return set(page.locator(TERMS).all_inner_texts())


def menus(page, met: set[str]) -> set[str]:
    """What stands in the menus of the page, each opened once in a walk: `met` names those that were."""
    said: set[str] = set()
    body = page.locator("[data-testid=stPopoverBody]")
    for button in page.locator("[data-testid=stPopover] button:visible").all():
        name = button.inner_text()
        if name in met:
            continue
        met.add(name)
        button.click()
        body.first.wait_for()
        answered(page)
        said |= said_on(page)
        button.click()
        body.first.wait_for(state="detached")
    return said


@pytest.fixture(scope="module")
def window(browser):
    """One for all pages: a browser keeps what it has read and compiled."""
    with windows(browser) as make:
        page = make(width=1280, height=720, locale="zh-CN")
        page.add_init_script(DRAWN)
        yield page


@pytest.fixture(scope="module")
def explained() -> set[str]:
    """Terms that were opened on a page before."""
    return set()


@pytest.mark.parametrize("name", WALKS)
def test_no_english_is_left_on_any_view_of_a_page_and_nothing_serious_in_either_theme(
    server_url, window, explained, name
):
    page = window
    said: dict[str, str] = {}
    serious: dict[str, list[str]] = {}
    met = set(explained)
    for view in WALKS[name]:
        opened(page, server_url, view)
        if found := severe_in_both_themes(page):
            serious[view] = found
        unfolded(page)
        page.evaluate(STILL, GROUND["light"])
        explained |= names_of_terms(page)
        for word, text in english_in(said_on(page) | menus(page, met)).items():
            if word not in view and not (name == "heads" and word in random_words()):  # a refusal quotes its link
                said.setdefault(word, f"{view}: {text}")
    assert said == {}
    assert serious == {}


def test_every_page_is_walked():
    assert set(WALKS) == {"" if row.is_home else row.name for row in page_table.PAGES}


def test_axe_is_the_version_that_is_pinned_and_finds_what_is_wrong(new_page):
    pinned = json.loads((ROOT / "package.json").read_text("utf-8"))["devDependencies"]["axe-core"]
    assert json.loads((AXE.parent / "package.json").read_text("utf-8"))["version"] == pinned
    page = new_page()
    page.set_content("<html lang=en><title>x</title><main><h1>x</h1><button></button></main></html>")
    assert [line.split(":")[0] for line in severe(page)] == ["button-name"]


def test_what_is_english_is_found(server_url, new_page):
    page = new_page(width=1280, height=720, locale="en-GB")
    page.add_init_script(DRAWN)
    opened(page, server_url, "masks")
    assert len(english_in(said_on(page))) > 80


def test_a_box_that_unfolds_speaks_the_language_that_was_just_chosen(server_url, new_page):
    page = new_page(width=1280, height=720, locale="en-GB")
    page.goto(f"{server_url}/pictures?pic_order=distance")
    box = page.locator("[data-testid=stSelectbox] input").last
    expect(box).to_have_value("Heads by distance in pixels")
    answered(page)
    page.get_by_text("中文").click()
    expect(box).to_have_value("头按距离（像素）排列")
    assert "pic_order=distance" in page.url
