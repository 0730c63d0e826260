"""The mask as a program, in the four ways that torch and transformers take one."""

from __future__ import annotations

import streamlit as st

from attnviz.app import widgets
from attnviz.app.code_snippet import program_box
from attnviz.app.text import spoken
from attnviz.base.words import _, ngettext
from attnviz.pages.masks import choices
from attnviz.pages.masks.maths import mask_lab, mask_programs
from attnviz.pages.masks.panels import workbench

NAMES = {str(way): way for way in mask_programs.WAYS}


def panel(config: mask_lab.Config) -> None:
    """Draw one of four programs; three print the weights shown above, that of transformers where a model looks."""
    box = program_box("masks")
    if box is not None:
        with box:
            _code(config)


def _code(config: mask_lab.Config) -> None:
    labels = {
        "attn_mask": "attn_mask",
        "is_causal": "is_causal",
        "mask_mod": "FlexAttention mask_mod",
        "transformers": "transformers attention_mask",
    }
    way = NAMES[widgets.one_of(choices.PROGRAM, _("How the mask is handed over"), labels, label_visibility="collapsed")]
    said = mask_programs.program(way, config)
    st.markdown(spoken(said.remark))
    if said.code is None:
        return
    if way == "transformers":
        st.caption(_where_it_looks(len(workbench.computed(config).empty)))
    else:
        st.caption(_("Paste this code into a notebook: it prints the weights under the mask, to the last digit."))
    st.code(said.code, language="python", height=460 if said.code.count("\n") > 24 else "content")


def _where_it_looks(empty: int) -> str:
    """What the transformers program prints, `empty` rows having nothing left to look at."""
    if not empty:
        return _(
            "Paste this code into a notebook: a small random model looks where the mask lets it, and nowhere else."
        )
    return ngettext(
        "Paste this code into a notebook: a small random model looks where the mask lets it, and nowhere else, but "
        "for {n} row with nothing left to look at. It is all ones: hidden scores are the lowest number there, not "
        "-inf, so all its scores are equal, and so are its weights.",
        "Paste this code into a notebook: a small random model looks where the mask lets it, and nowhere else, but "
        "for {n} rows with nothing left to look at. They are all ones: hidden scores are the lowest number there, not "
        "-inf, so all scores of such a row are equal, and so are its weights.",
        empty,
    ).format(n=empty)
