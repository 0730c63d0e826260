"""Attention by hand: from words to output, one step at a time."""

from collections.abc import Callable

import streamlit as st

from attnviz.app.guarding import guard
from attnviz.app.page_heading import page_heading
from attnviz.app.widgets import one_of
from attnviz.base.words import _
from attnviz.pages.build import choices
from attnviz.pages.build.maths import attention_by_hand
from attnviz.pages.build.page_entry import PAGE
from attnviz.pages.build.panels import (
    code,
    config_form,
    sizes,
    two_sources,
    walk,
    weights,
    whys,
)


def further(result: attention_by_hand.Result) -> None:
    """Draw the questions and the answer to the chosen one, on the same sentence."""
    questions: dict[str, tuple[str, Callable[[attention_by_hand.Result], None]]] = {
        "weights": (_("What if I change a weight?"), weights.panel),
        "sizes": (_("Which sizes must agree?"), lambda _result: sizes.panel()),
        "qkv": (_("Why Q, K and V?"), whys.qkv),
        "softmax": (_("Why softmax?"), whys.softmax),
        "heads": (_("Why several heads?"), whys.several_heads),
        "picture": (_("And with a picture?"), two_sources.panel),
    }
    st.subheader(_("Ask further"), anchor=False)
    titles = {name: title for name, (title, _panel) in questions.items()}
    question = one_of(choices.QUESTION, _("Question"), titles, label_visibility="collapsed")
    with guard():
        questions[question][1](result)


def page() -> None:
    page_heading(PAGE)
    with guard():
        config, vectors = config_form.ask()
        result = attention_by_hand.run(config)
        walk.panel(result, vectors)
        further(result)
        code.panel(result)


if __name__ == "__main__":  # Streamlit runs this file
    page()
