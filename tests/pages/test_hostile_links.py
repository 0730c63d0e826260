"""Links put together by lot, in which parts that make sense stand beside parts that do not, on every page.

A page that ends raises, and a panel that fails unexpectedly writes into the log, which fails a test of these folders.
What controls say at their ends is asked in test_every_sentence.py.
"""

import os
import random
from typing import Any

import pytest

from attnviz.app.links.choices import Choice, page_choices
from attnviz.serve import page_table  # noqa: F401
from attnviz.serve.page_table import NAMES as PAGES
from tests.pages.conftest import said

MARKUP = "<b>x</b> $\\frac{1}{0}$ **x** `y` [a](javascript:1) \U0001f600"
NONSENSE = (
    "", "nan", "1e999", "-1", "9" * 4400, "0x10", "None", "{x}", "**y**", "$z$", "中文 🙂", "\x00", "‮abc",
    "1,2,3", "..", "1.1.1", "[" * 400, "1" + "A" * 300, "1!!!!", "a" * 3000, MARKUP,
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
    told = {choice.name: one(choice, lot) for choice in page_choices(page)}
    packs = {choice.inside for choice in page_choices(page) if choice.inside}
    told |= {name: lot.choice((None, *NONSENSE)) for name in sorted(packs)}
    return {name: text for name, text in told.items() if text is not None} or drawn_link(page, lot)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["at home", "of markup", "hosted"])
@pytest.mark.parametrize("page", PAGES)
def test_no_link_ends_a_page_becomes_markup_or_is_told_anything_of_the_environment(
    visit: Any, monkeypatch: pytest.MonkeyPatch, page: str, kind: str
) -> None:
    if kind == "hosted":
        monkeypatch.setenv("ATTNVIZ_HOSTED", "1")
    monkeypatch.setenv("HF_TOKEN", "hf_planted_secret_0123")
    monkeypatch.setenv("PLANTED_VARIABLE", "planted_secret_4567")
    link = drawn_link(page, random.Random(f"{page} {kind}"))
    if kind == "of markup":
        link |= {choice.name: MARKUP for choice in page_choices(page) if choice.kind == "text" and not choice.inside}
    shown = visit(page, **link)
    assert shown.main.children, link
    for part in ("<b>", "javascript:1)", "$\\frac{1}{0}$"):
        assert part not in said(shown), link
    drawn = [str(element.proto) for element in shown.main if hasattr(element, "proto")]
    assert len(drawn) > 3
    told = " ".join([*drawn, *(str(value) for value in shown.session_state._state.filtered_state.values())])
    for secret in ("planted_secret", os.environ["HOME"] + "/.", os.environ["PATH"]):
        assert secret not in told
