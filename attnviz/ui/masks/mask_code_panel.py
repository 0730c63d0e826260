"""The mask as a program, in the four ways that torch and transformers take one."""

from __future__ import annotations

import streamlit as st

from attnviz.experiments.masks import mask_lab, mask_programs
from attnviz.ui.masks import mask_choices
from attnviz.ui.shared import spoken, widgets
from attnviz.words import _

NAMES = {str(way): way for way in mask_programs.WAYS}


def panel(config: mask_lab.Config) -> None:
    """Draw one of four programs; each prints the weights shown above."""
    st.subheader(_("The same in PyTorch"), anchor=False)
    labels = {
        "attn_mask": "attn_mask",
        "is_causal": "is_causal",
        "mask_mod": "FlexAttention mask_mod",
        "transformers": "transformers attention_mask",
    }
    way = NAMES[
        widgets.one_of(mask_choices.PROGRAM, _("How the mask is handed over"), labels, label_visibility="collapsed")
    ]
    said = mask_programs.program(way, config)
    st.markdown(spoken(said.remark))
    if said.code is None:
        return
    if way == "transformers":
        st.caption(
            _("Paste this code into a notebook: a small random model looks where the mask lets it, and nowhere else.")
        )
    else:
        st.caption(_("Paste this code into a notebook: it prints the weights under the mask, to the last digit."))
    st.code(said.code, language="python", height=460 if said.code.count("\n") > 24 else "content")
