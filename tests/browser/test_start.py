"""Start tells one story: a row in focus, in the diagram, the picture and the sentence below, moved by a click."""

import re

import pytest

from tests.browser.conftest import answered, resized, until
from tests.browser.test_mission import beside, head_stage

PROJECTOR, LAPTOP, PHONE = {"width": 1280, "height": 720}, {"width": 1440, "height": 900}, {"width": 390, "height": 844}
OWN = "/?sentence=My+grandmother+baked+a+cake+and+she+gave+it+to+me."


def made(page) -> str:
    return page.locator(".av-mixture-made").inner_text()


def said(page) -> str:
    return page.get_by_test_id("said").inner_text()


def pinned(page) -> list[str]:
    return page.locator(".av-chips [aria-selected=true]").all_inner_texts()


def shares(page) -> dict[str, int]:
    words = page.locator(".av-mixture-word").all_inner_texts()
    return {name: int(share.strip("<%")) for name, share in (word.split("\n")[-2:] for word in words)}


def test_the_picture_is_high_and_the_doors_are_on_the_first_screen(opened_start):
    page = opened_start("/", **PROJECTOR)
    for window in (PROJECTOR, LAPTOP, PHONE):
        resized(page, **window)
        the_doors_are_seen(page, window)


def the_doors_are_seen(page, window):  # and where the picture begins: picture_first.py
    assert page.locator("[data-main-picture]").bounding_box()["height"] >= 320
    for door in ("Take a lesson", "See all heads", "Size a cache"):
        box = page.get_by_role("link", name=door).bounding_box()
        assert box["y"] + box["height"] < window["height"]


def test_a_visitors_own_sentence_is_told_by_the_row_that_tells_most_and_a_click_moves_the_focus(opened_start):
    page = opened_start(OWN, **PROJECTOR)
    assert made(page) == "new vector of “it”"
    assert pinned(page) == ["it"]
    assert said(page).startswith("“it” gives 98% to “cake”")
    assert shares(page)["cake"] == 98
    assert sum(shares(page).values()) == pytest.approx(100, abs=2)
    assert not page.get_by_test_id("mask").is_visible(), "what changes it waits"
    page.locator(".av-mixture button", has_text="cake").click()
    until(lambda: made(page) == "new vector of “cake”")
    assert pinned(page) == ["cake"]
    assert said(page).startswith("“cake” gives ")
    page.get_by_role("listbox").first.get_by_role("option", name="she").click()
    until(lambda: made(page) == "new vector of “she”")
    answered(page)
    assert (made(page), pinned(page)) == ("new vector of “she”", ["she"])
    strongest = max(shares(page).items(), key=lambda item: item[1])
    assert f"“she” gives {strongest[1]}% to “{strongest[0]}" in said(page)
    assert not re.search(r"\d\.\d{4}", beside(head_stage(page), "readout"))


@pytest.fixture
def opened_start(new_page, server_url):
    """`opened_start(address, width=…)`: Start with its picture drawn."""

    def opened(address, **window):
        page = new_page(**window)
        page.goto(f"{server_url}{address}")
        head_stage(page).wait_for()
        answered(page)
        return page

    return opened
