"""A trap: wrong code, right code, and what each gives in the visitor's sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from attnviz.app import show, widgets
from attnviz.app.code_snippet import program_box
from attnviz.app.links.choices import Choice
from attnviz.app.text import named_word, spoken, spoken_value
from attnviz.base.message import Message
from attnviz.base.words import _, say
from attnviz.canvas.head.attention_view import head_view
from attnviz.canvas.head.pictures import head_picture
from attnviz.canvas.shared.kinds import Head, HeadScene, Options
from attnviz.runs.traps import IMPORTS, Outcome, Trap, TrapMatrix

LONG = 32  #: words; a longer sentence gets a square-root colour scale


def imports(key: str) -> None:
    """Draw what both pieces of code import, closed until it is opened."""
    box = program_box(key, _("What both pieces of code import"))
    if box is not None:
        box.code(IMPORTS, language="python")


def choose(traps: Mapping[str, Trap], choice: Choice[str], outcome_of: Callable[[str], Outcome], key: str) -> Trap:
    """Draw the choice of a trap and all that there is of it; `key` begins the keys of the views."""
    titles = {trap.id: f"{number}. {say(trap.title)}" for number, trap in enumerate(traps.values(), start=1)}
    picked, measured = st.columns([2, 3], gap="medium")
    with picked:
        trap = traps[widgets.one_of(choice, _("Trap"), titles, style="select")]
    outcome = outcome_of(trap.id)
    with measured:
        largest = _("none: the wrong code raises") if outcome.largest is None else f"{outcome.largest:.3f}"
        st.metric(_("Largest difference of a weight in your sentence"), largest)
    _draw(trap, outcome, key)
    return trap


def _draw(trap: Trap, outcome: Outcome, key: str) -> None:
    """Draw both pieces of code, what each gives, and what is to be said of it."""
    st.markdown(spoken(trap.why))
    sides = (("wrong", trap.wrong_code, outcome.wrong), ("right", trap.right_code, outcome.right))
    for column, (name, code, _drawn) in zip(st.columns(2, gap="medium"), sides, strict=True):
        with column:
            _code(name, code)
    if outcome.error:
        with st.columns(2, gap="medium")[0]:
            _error(outcome.error)
    for column, (name, _source, drawn) in zip(st.columns(2, gap="medium"), sides, strict=True):
        with column:
            if drawn is not None:
                _picture(trap.id, name, drawn, key)
    for fact in outcome.facts:
        st.markdown("- " + _said(fact))
    if outcome.table:
        _table(outcome)


def _code(name: str, code: str) -> None:
    if name == "wrong":
        st.badge(_("Wrong"), color="red", icon=":material/close:")
    else:
        st.badge(_("Right"), color="green", icon=":material/check:")
    st.code(code, language="python", wrap_lines=True)


def _error(error: str) -> None:
    """What PyTorch says to the wrong code."""
    st.caption(_("What PyTorch says to it in your sentence"))
    st.code(f"RuntimeError: {error}", language=None, wrap_lines=True)


def _picture(trap: str, name: str, drawn: TrapMatrix, key: str) -> None:
    titles = {"wrong": _("What the wrong code gives"), "right": _("What the right code gives")}
    head = Head(drawn.values, titles[name], drawn.hidden, "weights")
    options = Options(compact=True, root=len(drawn.cols) > LONG)
    scene = HeadScene(drawn.rows, None if drawn.rows == drawn.cols else drawn.cols, options, key)
    pins = head_view(f"{key}-{name}", head, scene)
    show.under(
        lambda: head_picture(head, scene, pins),
        name=f"trap-{trap}-{name}",
        key=f"{key}-{name}-save",
        table=lambda: {
            "query": [row for row in drawn.rows for _col in drawn.cols],
            "key": list(drawn.cols) * len(drawn.rows),
            "value": drawn.values.ravel().tolist(),
        },
    )


def _said(fact: Message) -> str:
    """A fact as a sentence; words of the visitor's sentence in it are quoted."""
    params = {
        name: named_word(str(value)) if name == "word" else spoken_value(value) for name, value in fact.params.items()
    }
    return _(fact.template).format(**params)


def _table(outcome: Outcome) -> None:
    heads, *rows = ([say(cell) if isinstance(cell, Message) else cell for cell in row] for row in outcome.table)
    st.dataframe(
        [dict(zip(heads, row, strict=True)) for row in rows], hide_index=True, width="content", height="content"
    )
