"""Why scores are divided by the square root of d_k: felt, measured, and trained."""

from __future__ import annotations

import streamlit as st

from attnviz.ui.scaling import ending, scaling_choices, sections
from attnviz.ui.shared import guard, one_of
from attnviz.words import _

st.title(_("Why divide by √d_k?"), anchor=False)
st.markdown(
    _(
        "*“Large dot products push softmax into regions with tiny gradients.”* Seven short sections take that sentence "
        "apart, word by word. Every number is computed now, from random vectors with a seed or from a trained model."
    )
)
section = one_of(scaling_choices.SECTION, _("Section"), sections.titles(), label_visibility="collapsed")
with guard():
    sections.SECTIONS[section]()
with guard():
    ending.panel()
