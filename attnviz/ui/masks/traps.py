"""Mistakes that no shape test finds: wrong code, right code, and the difference in this sentence."""

from __future__ import annotations

import streamlit as st

from attnviz.core.message import Message
from attnviz.experiments import traps
from attnviz.experiments.traps import Outcome, Picture, Trap
from attnviz.experiments.word_vectors import sentence
from attnviz.figures.heatmap import matrix
from attnviz.ui import show
from attnviz.ui.controls import choice
from attnviz.ui.text import plain, quoted, spoken
from attnviz.words import _, say


@st.cache_data(max_entries=64, show_spinner=False)
def computed(trap: str, words: tuple[str, ...], seed: int) -> Outcome:
    return traps.run(trap, sentence(words, seed))


def panel(words: tuple[str, ...], seed: int) -> None:
    """One trap at a time, each live on the sentence above."""
    titles = {trap.id: f"{number}. {say(trap.title)}" for number, trap in enumerate(traps.TRAPS.values(), start=1)}
    picked, told = st.columns([2, 3], gap="medium")
    with picked:
        trap = traps.TRAPS[choice(_("Trap"), titles, "m_trap", style="select")]
    outcome = computed(trap.id, words, seed)
    with told:
        st.metric(_("Largest difference of a weight in your sentence"), f"{outcome.largest:.3g}")
    st.markdown(spoken(trap.why))
    wrong, right = st.columns(2, gap="medium")
    with wrong:
        _side(_("Wrong"), trap.wrong_code, outcome.wrong, trap, "wrong")
    with right:
        _side(_("Right"), trap.right_code, outcome.right, trap, "right")
    for fact in outcome.facts:
        st.markdown("- " + _said(fact))
    if outcome.table:
        _table(outcome)
    with st.expander(_("What both pieces of code have imported")):
        st.code(traps.IMPORTS, language="python")


def _side(title: str, code: str, drawn: Picture, trap: Trap, name: str) -> None:
    if name == "wrong":
        st.badge(title, color="red", icon=":material/close:")
    else:
        st.badge(title, color="green", icon=":material/check:")
    st.code(code, language="python")
    many = len(drawn.cols) > 40
    show.figure(
        matrix(
            drawn.values, drawn.rows, drawn.cols, kind=drawn.kind, masked=drawn.hidden, height=380 if many else None
        ),
        name=f"trap-{trap.id}-{name}",
        key=f"m-trap-{name}",
        table={
            "query": [row for row in drawn.rows for _col in drawn.cols],
            "key": list(drawn.cols) * len(drawn.rows),
            "value": drawn.values.ravel().tolist(),
        },
    )


def _said(fact: Message) -> str:
    """A fact in words; the words of the sentence in it are set apart."""
    params = {
        name: quoted(str(value)) if name == "word" else plain(value) if isinstance(value, str) else value
        for name, value in fact.params.items()
    }
    return _(fact.template).format(**params)


def _table(outcome: Outcome) -> None:
    heads, *rows = ([say(cell) if isinstance(cell, Message) else cell for cell in row] for row in outcome.table)
    st.dataframe([dict(zip(heads, row, strict=True)) for row in rows], hide_index=True, width="content")
