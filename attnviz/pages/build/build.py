"""Attention by hand: from words to output, one step at a time."""

from __future__ import annotations

import streamlit as st

from attnviz.app.fragment import fragment
from attnviz.app.guarding import guard
from attnviz.app.page_heading import page_heading
from attnviz.app.text import spoken
from attnviz.app.widgets import one_of
from attnviz.base.words import _
from attnviz.pages.build import choices
from attnviz.pages.build.maths import attention_by_hand, inputs
from attnviz.pages.build.page_entry import PAGE
from attnviz.pages.build.panels import (
    code,
    config_form,
    lesson_heads,
    lesson_qkv,
    lesson_softmax,
    lesson_two_sources,
    walk,
)
from attnviz.pages.build.panels import sizes as sizes_panel
from attnviz.pages.build.panels import weights as weights_panel


@fragment
def pipeline(result: attention_by_hand.Result, vectors: inputs.Rows | None) -> None:
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
    question = one_of(choices.QUESTION, _("Question"), questions, label_visibility="collapsed")
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
    page_heading(PAGE)
    with guard():
        asked = config_form.ask()
        for notice in asked.notices:
            st.info(spoken(notice))
        result = attention_by_hand.run(asked.config)
        pipeline(result, asked.vectors)
        further(result)
        code.panel(result)


if __name__ == "__main__":  # Streamlit runs this file
    page()
