"""No view of a page is too wide, cut or laid over itself, at a projector's width and on a phone, in longer words.

They are those of a language whose words are 40% longer: what fits them fits English.
"""

from collections.abc import Iterator
from statistics import mean
from typing import Any

import pytest

from attnviz.base.words import LOCALE_DIR
from scripts import languages
from tests.browser import longer_words
from tests.browser.conftest import ROOT, windows
from tests.browser.every_view import GROUND, STILL, opened, page_of, views
from tests.browser.layout_faults import layout_faults

pytestmark = pytest.mark.xdist_group("longer")
SIZES = ({"width": 1280, "height": 720}, {"width": 390, "height": 844})
#: views with a formula that is longer than a phone is wide, and is scrolled in its place
SCROLLED = {"build?b_ask=picture"}
PAGES = sorted({page_of(view) for view in views()})


@pytest.fixture(scope="module")
def longer_url(servers: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("longer")
    longer_words.write(folder)
    return str(servers(longer_words.script(folder, ROOT / "app.py")).url)


@pytest.fixture(scope="module")
def window(browser: Any) -> Iterator[Any]:
    """One for all pages: a browser keeps what it has read and compiled."""
    with windows(browser) as make:
        yield make(**SIZES[0])


@pytest.mark.parametrize("name", PAGES)
def test_no_view_of_a_page_is_broken_by_longer_words(longer_url: str, window: Any, name: str):
    faults: dict[str, str] = {}
    sizes = list(SIZES)
    for view in (view for view in views() if page_of(view) == name):
        window.set_viewport_size(sizes[0])
        opened(window, longer_url, view, lang=longer_words.NAME)
        for number, size in enumerate(sizes):
            if number:
                window.set_viewport_size(size)
                window.evaluate(STILL, GROUND["light"])
            for fault in layout_faults(window):
                if fault.startswith("formula") and view in SCROLLED:
                    continue
                faults.setdefault(fault, f"{view} at {size['width']}")
        sizes.reverse()  # the next view opens at the size that the window has now
    assert faults == {}


def test_the_words_are_longer_and_nothing_else_is_changed():
    sentences = [each for each in languages.read(LOCALE_DIR / "zh.po") if each.id and isinstance(each.id, str)]
    grown = [len(longer_words.longer(each.id)) / len(each.id) for each in sentences if each.id.isalpha()]
    assert min(grown) >= 1.4
    assert mean(len(longer_words.longer(each.id)) / len(each.id) for each in sentences) > 1.3
    for each in sentences:
        assert longer_words.KEPT.findall(longer_words.longer(each.id)) == longer_words.KEPT.findall(each.id)


def test_a_page_that_is_too_wide_cuts_something_or_lays_words_over_others_is_found(new_page: Any):
    page = new_page(**SIZES[1])
    page.set_content(
        "<div data-testid=stMain style='overflow:auto;position:relative'><div style='width:900px'>wide</div>"
        "<div style='overflow:hidden'><canvas width=700></canvas></div><p class=katex-display "
        "style='width:30px;overflow:auto'>a_formula_that_is_long</p>"
        "<p style='overflow:hidden;width:40px;white-space:nowrap'>too long for it</p>"
        "<span style='position:absolute;top:90px;left:9px'>one</span>"
        "<span style='position:absolute;top:92px;left:12px'>other</span></div>"
    )
    assert [fault.split(":")[0] for fault in layout_faults(page)] == ["wide", "out", "formula", "cut", "over"]
