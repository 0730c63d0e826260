"""Why scores are divided by the square root of d_k: felt, measured, and trained."""

from __future__ import annotations

import streamlit as st

from attnviz.ui.scaling import ending, sections
from attnviz.ui.shared import choice, guard
from attnviz.words import _

st.title(_("Why divide by √d_k?"), anchor=False)
st.markdown(
    _(
        "*“Large dot products push softmax into regions with tiny gradients.”* Seven short sections take that sentence "
        "apart, word by word. Every number is computed now, from random vectors with a seed or from a trained model."
    )
)
section = choice(_("Section"), sections.titles(), "s_section", label_visibility="collapsed")
with guard():
    sections.SECTIONS[section]()
with guard():
    ending.panel()
