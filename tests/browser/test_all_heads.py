"""All heads of a short sentence come in the background; choosing one that is there needs no server to be drawn."""

import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.canvas_places import inside_tile
from tests.browser.conftest import ROOT, Server, answered, until

Open = Callable[..., Any]
TEXT = "The animal didn't cross the street because it was too tired to walk."
LONG = "one two three four five six seven " * 12


class Net:
    """What a page fetched from the two addresses that heads come from."""

    def __init__(self, page: Any) -> None:
        self.all: list[str] = []
        self.ones: list[str] = []
        self.answers: list[Any] = []
        page.on("request", self._asked)
        page.on("response", self._answered)

    def _asked(self, request: Any) -> None:
        for kind, found in (("/attnviz/heads/", self.all), ("/attnviz/head/", self.ones)):
            if kind in request.url:
                found.append(request.url)

    def _answered(self, response: Any) -> None:
        if "/attnviz/heads/" in response.url:
            self.answers.append(response)

    def clear(self) -> None:
        self.all.clear()
        self.ones.clear()


@pytest.fixture(scope="module")
def server(servers: Callable[[Path], Server]) -> Server:
    return servers(ROOT / "app.py")


@pytest.fixture
def explore(server: Server, new_page: Open) -> Open:
    def opened(text: str = TEXT, allowed: bool = True) -> tuple[Any, Net]:
        page = new_page(stranger=True)  # who has no heads yet
        net = Net(page)
        if not allowed:  # as where the server has no routes of ours
            page.route("**/attnviz/heads/**", lambda route: route.fulfill(status=200, body="<!doctype html>"))
        page.goto(f"{server.url}/explore?text={text.replace(' ', '+')}&at=3.1")
        page.get_by_test_id("heatmap").first.wait_for(timeout=60_000)
        answered(page)
        expect(page.get_by_test_id("overview")).to_have_attribute("data-tiles", re.compile(r"\d"))
        return page, net

    return opened


@pytest.fixture
def stopped(server: Server) -> Iterator[Callable[[], None]]:
    """`stopped()` has the server answer nothing more until the test ends."""
    yield lambda: server.process.send_signal(signal.SIGSTOP)
    server.process.send_signal(signal.SIGCONT)


def arrived(page: Any) -> None:
    """Wait until all heads are in the page."""
    page.wait_for_function("[...globalThis[Symbol.for('attnviz.groups')].values()].some((group) => group.all)")


def place(page: Any, layer: int, head: int) -> dict[str, float]:
    return inside_tile(page.get_by_test_id("overview"), 9 * layer + head)


def choose(page: Any, layer: int, head: int) -> None:
    page.get_by_test_id("overview").click(position=place(page, layer, head))


def shown(page: Any, layer: int, head: int) -> None:
    page.locator(".av-title", has_text=f"Layer {layer}, head {head}").wait_for()


def picture(page: Any) -> bytes:
    page.mouse.move(3, 3)
    return page.get_by_test_id("heatmap").first.screenshot()


def test_all_heads_come_once_and_small(explore: Open) -> None:
    page, net = explore()
    arrived(page)
    assert len(net.all) == 1
    answer = net.answers[0]
    assert int(answer.headers["content-length"]) < 250_000
    assert "immutable" in answer.headers["cache-control"]
    net.clear()
    for chosen in ((7, 2), (20, 8), (0, 0), (7, 2)):
        choose(page, *chosen)
        shown(page, *chosen)
        answered(page)
    assert (net.all, net.ones) == ([], []), "heads that are there were fetched again"


def test_a_class_shares_one_address_and_another_sentence_has_another(explore: Open) -> None:
    (first, one), (second, two), (third, three) = explore(), explore(), explore("Something else entirely.")
    for page in (first, second, third):
        arrived(page)
    assert one.all == two.all
    assert one.all != three.all


def test_a_head_is_drawn_while_the_server_says_nothing_and_the_panels_follow(
    explore: Open, stopped: Callable[[], None], server: Server
) -> None:
    page, _net = explore()
    choose(page, 12, 4)
    shown(page, 12, 4)
    page.wait_for_url("**at=12.4*")
    answered(page)
    from_python = picture(page)
    choose(page, 3, 1)
    page.wait_for_url("**at=3.1*")
    page.reload()
    page.get_by_test_id("heatmap").first.wait_for()
    answered(page)
    arrived(page)
    stopped()
    choose(page, 12, 4)
    shown(page, 12, 4)
    until(lambda: picture(page) == from_python)  # the same picture without a server
    assert "at=3.1" in page.url
    server.process.send_signal(signal.SIGCONT)
    page.wait_for_url("**at=12.4*")


def test_without_the_address_heads_come_one_at_a_time(explore: Open) -> None:
    page, net = explore(allowed=False)
    choose(page, 12, 4)
    shown(page, 12, 4)
    page.wait_for_url("**at=12.4*")
    assert len(net.all) == 1
    assert any(url.endswith("/12.4") for url in net.ones)


def test_a_long_sentence_has_heads_fetched_as_pointed_at_then_their_neighbours(explore: Open) -> None:
    page, net = explore(LONG)
    page.get_by_test_id("overview").hover(position=place(page, 12, 4))
    expected = ["12.4", "12.5", "12.3", "13.4", "11.4"]
    page.wait_for_function(
        "performance.getEntriesByType('resource').filter((e) => e.name.includes('/head/')).length > 4"
    )
    assert [url.rsplit("/", 1)[1] for url in net.ones] == expected
    assert net.all == []


def test_a_sentence_that_was_read_before_is_drawn_before_the_server_answers(
    explore: Open, stopped: Callable[[], None]
) -> None:
    page, _net = explore()
    field, overview = page.get_by_label("Sentence", exact=True), page.get_by_test_id("overview")

    def pictures() -> tuple[Any, Any]:
        matrix = page.get_by_test_id("heatmap").first.evaluate("stage => stage.matrix()")
        return matrix, overview.evaluate("stage => stage.querySelector('canvas').toDataURL()")

    first = pictures()
    field.fill("The trophy did not fit in the suitcase because it was too big.")
    field.press("Control+Enter")
    page.wait_for_url(re.compile("trophy"))
    answered(page)
    until(lambda: pictures()[0] != first[0] and pictures()[1] != first[1])
    stopped()
    field.fill(TEXT)
    field.press("Control+Enter")
    until(lambda: pictures() == first)
