"""Attention by hand: from words to output, one step at a time."""

from __future__ import annotations

import streamlit as st

from attnviz.experiments.building import attention_by_hand, embeddings
from attnviz.ui.building import (
    building_choices,
    code_panel,
    config_form,
    lesson_heads,
    lesson_qkv,
    lesson_softmax,
    lesson_two_sources,
    sizes_panel,
    walk,
    weights_panel,
)
from attnviz.ui.shared import guard, one_of, page_heading, page_texts, spoken
from attnviz.words import _


@st.fragment
def pipeline(result: attention_by_hand.Result, vectors: embeddings.Rows | None) -> None:
    """Draw the walk; choosing a step or a number reruns only this fragment."""
    with guard(), st.container(key="canvas-of-walk"):
        walk.panel(result, vectors)


def further(result: attention_by_hand.Result) -> None:
    """Draw the questions and the answer to the chosen one, on the same sentence."""
    questions = {
        "weights": _("What if I change a weight?"),
        "sizes": _("Which sizes must agree?"),
        "qkv": _("Why Q, K and V?"),
        "softmax": _("Why softmax?"),
        "heads": _("Why several heads?"),
        "picture": _("And with a picture?"),
    }
    st.subheader(_("Ask further"), anchor=False)
    question = one_of(building_choices.QUESTION, _("Question"), questions, label_visibility="collapsed")
    with guard():
        match question:
            case "weights":
                weights_panel.panel(result.config, result)
            case "sizes":
                sizes_panel.panel()
            case "qkv":
                lesson_qkv.panel(result)
            case "softmax":
                lesson_softmax.panel(result)
            case "heads":
                lesson_heads.panel(result)
            case "picture":
                lesson_two_sources.panel(result)


def page() -> None:
    """Draw the page."""
    title, about = page_texts.of("build")
    page_heading(title, about, ("query", "key", "value", "score", "softmax", "multi_head", "w_o"))
    with guard():
        asked = config_form.ask()
        for notice in asked.notices:
            st.info(spoken(notice))
        result = attention_by_hand.run(asked.config)
        pipeline(result, asked.vectors)
        further(result)
        code_panel.panel(result)


if __name__ == "__main__":  # Streamlit runs this file
    page()
