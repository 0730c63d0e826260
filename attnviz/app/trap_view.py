"""Traps: wrong code beside right code, and what each makes of the visitor's sentence."""

import math
from collections.abc import Mapping
from functools import partial
from typing import Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.analysis.traps import IMPORTS, Outcome, Trap
from attnviz.analysis.word_vectors import sentence
from attnviz.app import page_parts, show, widgets
from attnviz.app.cache.shared_results import shared
from attnviz.app.exports import cell_columns
from attnviz.app.links.choices import Choice
from attnviz.app.text import quote_word, translate_markdown, translate_markdown_value
from attnviz.base.head_record import HeadData, HeadView
from attnviz.base.message import Message
from attnviz.base.rounding import Rounded
from attnviz.base.word_boundaries import split
from attnviz.base.words import _, translate_message
from attnviz.canvas.head.attention_view import head_picture, head_view

LONG = 32  #: words; a trap's picture of a longer sentence gets a square-root colour scale


def ask_sentence(typed: Choice[str], luck: Choice[int]) -> tuple[tuple[str, ...], int]:
    """Draw a sentence and a seed in one row; its words, and the seed of their random vectors."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        tokens = split(widgets.text_box(typed, _("Your sentence")))
        with page_parts.more_menu():
            return tokens, widgets.number_box(luck, _("Vectors: random, seed"), step=1)


@partial(shared, key=lambda trap, *sentence: (trap.id, *sentence))
def cached_outcome(trap: Trap, tokens: tuple[str, ...], seed: int) -> Outcome:
    """The outcome of both pieces of code on this sentence, computed once for all visitors."""
    return trap.run(sentence(tokens, seed))


def draw_imports(key: str) -> None:
    """Draw what both pieces of a trap's code import, closed until it is opened."""
    box = show.program_box(key, _("What both pieces of code import"))
    if box is not None:
        box.code(IMPORTS, language="python")


def choose(
    traps: Mapping[str, Trap],
    choice: Choice[str],
    tokens: tuple[str, ...],
    seed: int,
    key: str,
    container: DeltaGenerator | None = None,
) -> Trap:
    """Draw the choice of a trap and what it makes of the words; `key` begins the keys of the views.

    Both pieces of code and what they give stand in `place`, below what is chosen unless told.
    """
    titles = {
        trap.id: f"{number}. {translate_message(trap.title)}" for number, trap in enumerate(traps.values(), start=1)
    }
    picked, measured = st.columns([2, 3], gap="medium")
    with picked:
        trap = traps[widgets.select_one(choice, _("Trap"), titles, style="select")]
    outcome = cached_outcome(trap, tokens, seed)
    with measured:
        largest = (
            _("none: the wrong code raises an error") if outcome.largest is None else f"{Rounded(outcome.largest):.3f}"
        )
        if outcome.largest is not None and math.isnan(outcome.largest):
            largest = _("no number: a weight is NaN")
        st.metric(_("Largest difference in any weight of your sentence"), largest)
    st.markdown(translate_markdown(trap.why))
    with container or st.container():
        _draw_comparison(trap, outcome, key)
    for fact in outcome.facts:
        st.markdown("- " + _fact_sentence(fact))
    if outcome.table:
        heads, *rows = (
            [translate_message(cell) if isinstance(cell, Message) else cell for cell in row] for row in outcome.table
        )
        show.draw_table(dict(zip(heads, map(list, zip(*rows, strict=True)), strict=True)), width="content")
    return trap


def _draw_comparison(trap: Trap, outcome: Outcome, key: str) -> None:
    """Both pieces of code beside each other, and what each gives or says."""
    codes: tuple[tuple[str, Literal["red", "green"], str, str], ...] = (
        (_("Wrong"), "red", "close", trap.wrong_code),
        (_("Right"), "green", "check", trap.right_code),
    )
    for column, (verdict, colour, icon, code) in zip(st.columns(2, gap="medium"), codes, strict=True):
        with column:
            st.badge(verdict, color=colour, icon=f":material/{icon}:")
            st.code(code, language="python", wrap_lines=True)
    if outcome.error:
        with st.columns(2, gap="medium")[0]:
            st.caption(_("What PyTorch says about it, on your sentence"))
            st.code(f"RuntimeError: {outcome.error}", language=None, wrap_lines=True)
    page_parts.draw_columns(
        lambda: _draw_picture(
            outcome, outcome.wrong, _("What the wrong code gives"), f"{trap.id}-wrong", f"{key}-wrong"
        ),
        lambda: _draw_picture(
            outcome, outcome.right, _("What the right code gives"), f"{trap.id}-right", f"{key}-right"
        ),
    )


def _draw_picture(outcome: Outcome, head: HeadData | None, title: str, name: str, key: str) -> None:
    """Draw the head that one piece of code computes; nothing where it raises."""
    if head is None:
        return
    rows, cols = head.tokens_q, head.tokens_q if head.tokens_k is None else head.tokens_k
    view = HeadView(title, compact=True, root=len(cols) > LONG)
    pins = head_view(key, head, view, group=key.rpartition("-")[0])
    show.footer(
        lambda: head_picture(head, view, pins, ""),
        name=f"trap-{name}",
        key=f"{key}-save",
        canvas=show.live_canvas(key),
        table=lambda: {
            **cell_columns(rows, cols),
            "value": head.scores.ravel().tolist(),
        },
        caption=_("{picture}: {fact}").format(picture=title, fact=_fact_sentence(outcome.facts[0])),
    )


def _fact_sentence(fact: Message) -> str:
    """A fact as a sentence; words of the visitor's sentence in it are quoted."""
    params = {
        name: quote_word(str(value)) if name == "word" else translate_markdown_value(value)
        for name, value in fact.params.items()
    }
    return _(fact.template).format(**params)
