"""Links put together by lot: parts that make sense beside parts that do not, on every page, and no page ends.

A page that ends raises, and a panel that fails unexpectedly writes into the log, which fails a test of these folders.
"""

import random
from typing import Any

import pytest

from attnviz.app.links.choices import Choice, page_choices
from attnviz.serve import page_table  # noqa: F401
from attnviz.serve.page_table import NAMES as PAGES

LOTS = range(3)
NONSENSE = (
    "", "nan", "1e999", "-1", "9" * 4400, "0x10", "None", "{x}", "<b>x</b>", "**y**", "$z$", "中文 🙂", "\x00", "‮abc",
    "1,2,3", "..", "1.1.1", "[" * 400, "1" + "A" * 300, "1!!!!", "a" * 3000,
)  # fmt: skip
#: What a machine without a hub, or without a minute, cannot show (a survey that was not prepared); tests of its own do.
LEFT_OUT = {"hd_of", "hd_seed", "model", "p_model", "d_model", "s_model", "h_model", "hd_model", "model_b"}


def one(choice: Choice[Any], lot: random.Random) -> str | None:
    """What a link says of a choice: nothing, something that it takes, or nonsense."""
    drawn = lot.random()
    if drawn < 0.4 or choice.inside or choice.name in LEFT_OUT:
        return None
    if drawn < 0.6:
        return lot.choice(NONSENSE)
    if choice.ids:
        return lot.choice(choice.ids)
    return str(choice.write(lot.choice((choice.example, choice.default))))


def drawn_link(page: str, lot: random.Random) -> dict[str, str]:
    """The first one drawn that says anything."""
    said = {choice.name: one(choice, lot) for choice in page_choices(page)}
    packs = {choice.inside for choice in page_choices(page) if choice.inside}
    said |= {name: lot.choice((None, *NONSENSE)) for name in sorted(packs)}
    return {name: text for name, text in said.items() if text is not None} or drawn_link(page, lot)


@pytest.mark.slow
@pytest.mark.parametrize("number", LOTS)
@pytest.mark.parametrize("page", PAGES)
def test_a_link_drawn_by_lot_ends_no_page(visit: Any, page: str, number: int) -> None:
    link = drawn_link(page, random.Random(f"{page} {number}"))
    shown = visit(page, **link)
    assert not shown.exception, link
    assert shown.main.children, link
