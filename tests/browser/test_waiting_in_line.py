"""Whoever waits reads his place in the line, and whoever closes the page frees it, waiting or at work."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

APP = Path(__file__).parent / "apps" / "in_line.py"
ONE = "1 computation of another visitor is ahead of yours, which starts by itself."
TWO = "2 computations of other visitors are ahead of yours, which starts by itself."


@pytest.fixture
def visit(browser: Any, servers: Callable[..., Any], tmp_path: Path) -> Iterator[Callable[[str], Any]]:
    """`visit(name)`: a visitor whose work ends when the file of that name is in the folder."""
    context = browser.new_context()

    def come(name: str) -> Any:
        page = context.new_page()
        page.goto(f"{servers(APP).url}/?until={tmp_path / name}")
        return page

    yield come
    context.close()


def test_a_place_is_read_and_moves_up_as_others_leave(visit: Callable[[str], Any], tmp_path: Path) -> None:
    first = visit("first")
    expect(first.get_by_text("at work")).to_be_visible()
    second = visit("second")
    expect(second.get_by_text(ONE)).to_be_visible()
    third = visit("third")
    expect(third.get_by_text(TWO)).to_be_visible()
    second.close()  # while waiting
    expect(third.get_by_text(ONE)).to_be_visible()
    expect(first.get_by_text("at work")).to_be_visible()
    first.close()  # while at work
    expect(third.get_by_text("at work")).to_be_visible()
    expect(third.get_by_text("before yours")).to_have_count(0)
    (tmp_path / "third").touch()
    expect(third.get_by_text("done")).to_be_visible()
