"""Which word may look at which: a mask from rules and paint, and its effect on attention."""

import streamlit as st

from attnviz.analysis import word_vectors
from attnviz.app import page_parts, presenting, show, widgets
from attnviz.app.links import link_state
from attnviz.app.panel import fragment, show_problems
from attnviz.app.sentence_input import ask_words
from attnviz.app.text import translate_markdown
from attnviz.base.words import _, ngettext
from attnviz.pages.masks import choices
from attnviz.pages.masks.maths import mask_lab, mask_programs
from attnviz.pages.masks.page_entry import PAGE
from attnviz.pages.masks.panels import views, workbench


@fragment
def draw_lab() -> None:
    """Draw everything below the heading; painting a cell reruns only this fragment."""
    with show_problems():
        container = page_parts.main_picture()
        rules = workbench.draw_rules()
        tokens, seed = ask_words(choices.SENTENCE, choices.SEED)
        word_vectors.check_word_count(tokens)
        config = mask_lab.Config(tokens, seed, rules, link_state.value(choices.PAINT))
        with container, st.container(key="canvas-of-mask"):
            result = workbench.show_grid(config)
        if not presenting.is_presenting():
            views.far_panel(config)
            box = show.program_box("masks")
            if box is not None:
                with box, show_problems():
                    draw_program(config, len(result.empty))


def draw_program(config: mask_lab.Config, empty: int) -> None:
    """Draw one of four programs: three print the weights shown above, that of transformers where a model looks.

    `empty` rows of the mask have nothing left to look at.
    """
    way = widgets.select_one(
        choices.PROGRAM,
        _("How the mask is handed over"),
        {
            "attn_mask": "attn_mask",
            "is_causal": "is_causal",
            "mask_mod": "FlexAttention mask_mod",
            "transformers": "transformers attention_mask",
        },
        label_visibility="collapsed",
    )
    program = mask_programs.PROGRAMS[way](config)
    st.markdown(translate_markdown(program.remark))
    if program.code is None:
        return
    if way == "transformers":
        st.caption(_describe_transformers_output(empty))
    else:
        st.caption(_("Paste this code into a notebook: it prints the weights under the mask, to the last digit."))
    st.code(program.code, language="python", height=460 if program.code.count("\n") > 24 else "content")


def _describe_transformers_output(empty: int) -> str:
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


def page() -> None:
    """Draw the page."""
    page_parts.draw_heading(PAGE)
    draw_lab()


if __name__ == "__main__":  # Streamlit runs this file
    page()
