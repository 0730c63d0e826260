"""Why scores are divided by the square root of d_k: felt, measured, and trained."""

from __future__ import annotations

import streamlit as st

from attnviz.ui.scaling import choices, ending
from attnviz.ui.scaling.sections import SECTIONS, titles
from attnviz.ui.shared.guard import guard
from attnviz.ui.shared.widgets import one_of
from attnviz.words import _

st.title(_("Why divide by √d_k?"), anchor=False)
st.markdown(
    _(
        "*“Large dot products push softmax into regions with tiny gradients.”* Seven short sections take that sentence "
        "apart, word by word. Every number is computed now, from random vectors with a seed or from a trained model."
    )
)
section = one_of(choices.SECTION, _("Section"), titles(), label_visibility="collapsed")
with guard():
    SECTIONS[section]()
with guard():
    ending.panel()
