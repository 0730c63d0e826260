"""Attention by hand: from words to output, one step at a time."""

from collections.abc import Callable

import streamlit as st

from attnviz.app import page_parts, show
from attnviz.app.panel import show_problems
from attnviz.app.text import translate_markdown
from attnviz.app.widgets import select_one
from attnviz.base.rounding import Rounded
from attnviz.base.words import _, join_sentences
from attnviz.pages.build import choices
from attnviz.pages.build.maths import attention_by_hand, generated_code
from attnviz.pages.build.page_entry import PAGE
from attnviz.pages.build.panels import (
    config_form,
    sizes,
    two_sources,
    walk,
    weights,
    whys,
)


def draw_questions(result: attention_by_hand.Result) -> None:
    """Draw the questions and the answer to the chosen one, on the same sentence."""
    questions: dict[str, tuple[str, Callable[[attention_by_hand.Result], None]]] = {
        "weights": (_("What if I change a weight?"), weights.panel),
        "sizes": (_("Which sizes must agree?"), lambda _result: sizes.panel()),
        "qkv": (_("Why Q, K and V?"), whys.draw_fixed_mixing),
        "softmax": (_("Why softmax?"), whys.draw_normalisers),
        "heads": (_("Why several heads?"), whys.draw_several_heads),
        "picture": (_("And with a picture?"), two_sources.panel),
    }
    st.subheader(_("Ask further"), anchor=False)
    titles = {name: title for name, (title, _panel) in questions.items()}
    question = select_one(choices.QUESTION, _("Question"), titles, label_visibility="collapsed")
    with show_problems():
        questions[question][1](result)


def draw_code(result: attention_by_hand.Result) -> None:
    """Draw the code in the form that the visitor chooses."""
    box = show.program_box("build")
    if box is None:
        return
    titles = {
        "module": _("Module of your own"),
        "sdpa": "F.scaled_dot_product_attention",
        "mha": "nn.MultiheadAttention",
    }
    draw_by_form = {"module": _draw_module_code, "sdpa": _draw_fused_call, "mha": _draw_multihead_code}
    with box:
        draw_by_form[select_one(choices.CODE, _("Written as"), titles, label_visibility="collapsed")](result)


def _draw_module_code(result: attention_by_hand.Result) -> None:
    text = _(
        "A module of {n} lines with only what this configuration uses; the lines after it reproduce this "
        "page's numbers."
    ).format(n=len(generated_code.module(result.config).splitlines()))
    if result.difference is not None:
        text = join_sentences(
            text,
            _("The steps above differ from the package's own module by at most {d}.").format(
                d=f"{Rounded(result.difference):.1g}"
            ),
        )
    st.caption(text)
    st.code(generated_code.program(result), language="python")


def _draw_fused_call(result: attention_by_hand.Result) -> None:
    st.markdown(_("One fused call from the scores to the weighted sum. Run it after the module, whose layers it uses."))
    if result.config.dropout and result.config.training:
        st.caption(
            _("Dropout drops other weights inside the fused call: the results agree on average, not number by number.")
        )
    st.code(generated_code.scaled_dot_product(result.config), language="python")
    st.caption(_("The fused call returns only the output: it never keeps the weights, which is why it is fast."))


def _draw_multihead_code(result: attention_by_hand.Result) -> None:
    source = generated_code.multihead(result.config)
    if source is None:
        st.info(_("nn.MultiheadAttention cannot express this configuration."), icon=":material/error:")
        for why in generated_code.multihead_refusals(result.config):
            st.markdown("- " + translate_markdown(why))
        return
    st.markdown(
        _("Run this after the module, whose weights it takes over. Its mask means the opposite: True hides a key.")
    )
    st.code(source, language="python")


def page() -> None:
    """Draw the page."""
    page_parts.draw_heading(PAGE)
    with show_problems():
        picture_slot = page_parts.main_picture()
        config, vectors = config_form.draw_form()
        result = attention_by_hand.run(config)
        with picture_slot:
            walk.panel(result, vectors)
        draw_questions(result)
        draw_code(result)


if __name__ == "__main__":  # Streamlit runs this file
    page()
