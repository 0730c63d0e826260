"""All heads of a short sentence come in the background; choosing one that is there needs no server to be drawn."""

import re
import signal
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.canvas_places import inside_tile, shown, tile, weights
from tests.browser.conftest import answered, until
from tests.browser.slow_line import Line

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


@pytest.fixture
def explore(server_url, new_page):
    """`explore(text)`: the page of somebody who has no heads yet, and what it fetched."""

    def opened(text=TEXT, allowed=True, slow=False):
        page = new_page(stranger=True)
        net, line = Net(page), slow and Line(page)
        if not allowed:  # as where the server has no routes of ours
            page.route("**/attnviz/heads/**", lambda route: route.fulfill(status=200, body="<!doctype html>"))
        page.goto(f"{server_url}/explore?text={text.replace(' ', '+')}&at=3.1")
        page.get_by_test_id("heatmap").first.wait_for(timeout=60_000)
        answered(page)
        expect(page.get_by_test_id("overview")).to_have_attribute("data-tiles", re.compile(r"\d"))
        return (page, net, line) if slow else (page, net)

    return opened


@pytest.fixture
def stopped(servers):
    """`stopped()` has the server answer nothing more until `stopped(False)` or the test's end."""

    def stop(stopped=True):
        servers().process.send_signal(signal.SIGSTOP if stopped else signal.SIGCONT)

    yield stop
    stop(False)


def arrived(page):
    """Wait until all heads are in the page."""
    page.wait_for_function("[...globalThis[Symbol.for('attnviz.groups')].values()].some((group) => group.all)")


def choose(page, layer, head):
    overview = page.get_by_test_id("overview")
    overview.click(position=inside_tile(overview, 9 * layer + head))


def pictures(page):
    small = page.get_by_test_id("overview").evaluate("stage => stage.querySelector('canvas').toDataURL()")
    return weights(page).tolist(), small


def test_all_heads_come_once_and_small_and_a_class_shares_one_address(explore):
    (page, net), (second, two), (third, three) = explore(), explore(), explore("Something else entirely.")
    for each in (page, second, third):
        arrived(each)
    assert len(net.all) == 1
    assert net.all == two.all
    assert net.all != three.all, "another sentence has another"
    answer = net.answers[0]
    assert int(answer.headers["content-length"]) < 250_000
    assert "immutable" in answer.headers["cache-control"]
    before = len(net.all), len(net.ones)
    for chosen in ((7, 2), (20, 8), (0, 0), (7, 2)):
        choose(page, *chosen)
        shown(page, "Layer {}, head {}".format(*chosen))
        answered(page)
    assert (len(net.all), len(net.ones)) == before, "heads that are there were fetched again"


def test_what_was_read_is_drawn_while_the_server_says_nothing_and_the_panels_follow(explore, stopped):
    page, _net = explore()
    choose(page, 12, 4)
    shown(page, "Layer 12, head 4")
    page.wait_for_url("**at=12.4*")
    answered(page)
    from_python = weights(page)
    choose(page, 3, 1)
    page.wait_for_url("**at=3.1*")
    page.reload()
    page.get_by_test_id("heatmap").first.wait_for()
    answered(page)
    arrived(page)
    stopped()
    choose(page, 12, 4)
    shown(page, "Layer 12, head 4")
    until(lambda: abs(weights(page) - from_python).max() < 2e-3)  # the same picture without a server
    assert "at=3.1" in page.url
    stopped(False)
    page.wait_for_url("**at=12.4*")
    answered(page)

    field, first = page.get_by_label("Sentence", exact=True), pictures(page)
    field.fill("The trophy did not fit in the suitcase because it was too big.")
    field.press("Control+Enter")
    page.wait_for_url(re.compile("trophy"))
    answered(page)
    until(lambda: all(now != then for now, then in zip(pictures(page), first, strict=True)))
    stopped()
    field.fill(TEXT)
    field.press("Control+Enter")
    until(lambda: pictures(page) == first)


def test_a_long_sentence_has_a_head_fetched_as_pointed_at_then_its_neighbours_and_drawn_before_the_answer(explore):
    page, net, line = explore(LONG, slow=True)
    page.mouse.move(*tile(page, 9 * 12 + 4))
    expected = ["12.4", "12.5", "12.3", "13.4", "11.4"]
    page.wait_for_function(
        "performance.getEntriesByType('resource').filter((e) => e.name.includes('/head/')).length > 4"
    )
    assert [url.rsplit("/", 1)[1] for url in net.ones] == expected
    assert net.all == []
    line.hold()
    page.mouse.down()
    page.mouse.up()
    shown(page, "Layer 12, head 4")
    assert "at=12.4" not in page.url, "drawn from what was fetched, before the page hears of an answer"
    line.let_go()
    page.wait_for_url("**at=12.4*")
    answered(page)
    assert page.locator(".av-title").first.text_content().startswith("Layer 12, head 4")
