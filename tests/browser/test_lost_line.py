"""A server that ends under a visitor's hands: he is told, and nothing that he typed, chose or painted is lost."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser.canvas_places import cell_on, mask_door, tokens
from tests.browser.conftest import ROOT, Server, at_rest, until, windows

pytestmark = pytest.mark.xdist_group("lost-line")
LOST, BACK = "Connection lost", "Connected again"


class Restarted:
    """A server that can be killed, and started again at its address."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "log.txt"
        self.server = Server(ROOT / "app.py", self.log)

    def kill(self) -> None:
        """End it as nobody expects it; returns when it has ended."""
        self.server.process.kill()
        self.server.process.wait()

    def start(self) -> None:
        self.server = Server(ROOT / "app.py", self.log, port=urlsplit(self.server.url).port or 0)


@pytest.fixture(scope="module")
def restarted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Restarted]:
    running = Restarted(tmp_path_factory.mktemp("server"))
    yield running
    running.server.stop()


@pytest.fixture
def visited(browser, restarted):
    """`visited("explore", "[data-testid=heatmap]")`: a page at rest of a server that will be killed."""
    if restarted.server.process.poll() is not None:  # a test before this one failed while there was none
        restarted.start()
    with windows(browser) as make:

        def open_it(view, *drawn):
            page = make(stranger=True)
            page.goto(f"{restarted.server.url}/{view}")
            at_rest(page, *drawn)
            return page

        with pytest.MonkeyPatch.context() as patch:  # a browser logs each look for a server that is gone
            patch.setattr("tests.browser.conftest.Watched._console", lambda self, message: None)
            yield open_it


def typed(page, text):
    box = page.get_by_label("Sentence", exact=True)
    box.fill(text)
    box.press("Control+Enter")


def is_shown(page, text):
    """The sentence is in the box, in the link and in the picture."""
    expect(page).to_have_url(re.compile(re.escape(text.replace(" ", "+"))), timeout=60_000)
    expect(page.get_by_label("Sentence", exact=True)).to_have_value(text)
    until(lambda: tokens(page) == text.split(), seconds=60)


def test_what_is_typed_chosen_and_painted_without_a_server_is_there_when_it_is_back(visited, restarted):
    page = visited("explore?text=Cats+sleep+here", "[data-testid=heatmap]")
    notice = page.locator(".cn-line")
    restarted.kill()
    expect(notice).to_contain_text(LOST, timeout=2_000)
    mask_door(page).get_by_role("button", name="Paint the mask on the matrix").click()
    page.mouse.click(*cell_on(page.get_by_test_id("heatmap").first, 2, 0, 3))
    restarted.start()
    expect(notice).to_contain_text(BACK)
    expect(notice).to_be_empty()
    page.wait_for_url(re.compile("mask=painted"), timeout=60_000)
    restarted.kill()
    expect(notice).to_contain_text(LOST, timeout=2_000)
    restarted.start()
    typed(page, "Dogs run home")  # as soon as Streamlit gives its boxes free, before anything is drawn again
    is_shown(page, "Dogs run home")


def test_a_sentence_is_not_lost_when_the_server_ends_while_it_answers(visited, restarted):
    page = visited("explore?text=Cats+sleep+here", "[data-testid=heatmap]")
    typed(page, "Birds sing loud")
    page.locator("html[data-asked]").wait_for(state="attached")
    restarted.kill()
    restarted.start()
    is_shown(page, "Birds sing loud")


def test_a_paste_that_is_larger_than_a_message_is_cut_and_the_page_says_so(opened):
    page = opened("explore?text=The+cat", "[data-testid=heatmap]")
    lines = []
    page.on("websocket", lambda line: lines.append(line))
    page.locator(".st-key-text textarea").click()
    page.evaluate("""() => {
      document.activeElement.select();
      document.execCommand("insertText", false, "word ".repeat(300_000));
    }""")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("only the first 100000 are used")).to_be_visible()
    assert not lines, "the server closes a line on which it is sent too much, and Streamlit sends it again"
