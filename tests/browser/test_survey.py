"""A survey of heads that a link asks for: its bar, its stop, and others who are let through meanwhile."""

import re
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import expect

from tests.browser.canvas_places import tokens
from tests.browser.conftest import listening, until

ALL = 63
WORDS = ("river", "stone", "cloud", "teacher", "window", "garden", "letter", "winter", "music", "lamp", "bridge")
LINES = [" ".join(WORDS[(number * 5 + place * 7) % 11] for place in range(12)) for number in range(ALL)]


def begun(page: Any, url: str, lines: list[str]) -> None:
    """Open the survey, and wait until its first sentence is done."""
    link = {"hd_text": "own", "hd_by": "first_token", "hd_count": ALL, "hd_own": "\n".join(lines)}
    page.goto(f"{url}/heads?{urlencode(link)}")
    until(lambda: done(page) > 0, seconds=120)


def done(page: Any) -> int:
    """How many sentences the bar says are done; all of them where it has gone again, 0 before it comes."""
    said = " ".join(page.locator(".st-key-live-heads-first [data-testid=stProgress]").all_inner_texts())
    found = re.search(rf"(\d+) of {ALL} sentences", said)
    return int(found[1]) if found else ALL * page.get_by_text(f"{ALL} sentences of your own text").count()


def test_a_survey_moves_lets_others_through_and_when_stopped_is_that_of_the_sentences_done(server_url, new_page):
    reader, first, second = new_page(), new_page(), new_page()
    reader.goto(f"{server_url}/explore")
    listening(reader)
    until(lambda: len(tokens(reader)) > 5, seconds=120)
    begun(first, server_url, LINES)
    before = done(first)
    until(lambda: done(first) > before, seconds=60)

    box = reader.get_by_label("Sentence", exact=True)
    box.fill("a bird sang while nobody listened")
    box.press("Control+Enter")
    until(lambda: "listened" in "".join(tokens(reader)), seconds=60)
    assert done(first) < ALL, "who typed a sentence need not wait for the survey"

    begun(second, server_url, [f"{line} again" for line in LINES])
    assert done(first) < ALL, "nor does another survey, which takes turns with it"
    first.locator(".st-key-live-heads-first").get_by_role("button", name="Stop").last.click()
    expect(first.get_by_role("button", name="Go on")).to_be_visible()
    stopped_at = done(first)
    assert before < stopped_at < ALL
    expect(first.get_by_text(f"{stopped_at} sentences of your own text")).to_be_visible()
    expect(first.get_by_text(f"standard error over {stopped_at} sentences").first).to_be_visible()
    others = done(second)
    until(lambda: done(second) > others, seconds=60)
    assert done(first) == stopped_at
