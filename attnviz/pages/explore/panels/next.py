"""The next token: the ten likeliest, and a model that writes up to fifty tokens until it is stopped.

Each written token is a run of its own, so the picture grows row by row. The link is updated after the last one:
otherwise the browser's history would hold every half sentence.
"""

import random
from typing import Any

import streamlit as st

from attnviz.analysis.predictions import Slot, TokenChoice, prediction_slots, token_choices
from attnviz.app import show, widgets
from attnviz.app.cache import model_cache
from attnviz.app.links import link_state
from attnviz.app.links.choices import Choice
from attnviz.app.panel import show_problem
from attnviz.app.text import escape_markdown
from attnviz.base.message import Problem
from attnviz.base.rounding import Rounded
from attnviz.base.words import _
from attnviz.figures import attention_figures as figures
from attnviz.models.settings import current_settings
from attnviz.pages.explore import choices
from attnviz.pages.explore.panels.shown_head import DisplayedHead

_BEFORE, _LEFT, _WHY = "_texts_before", "_tokens_to_write", "_why_not_more"

_draw = random.SystemRandom()


def panel(displayed: DisplayedHead) -> None:
    """Draw the probabilities of the next token, or of a masked one, under temperature and top-k."""
    loaded = model_cache.model_of_run(displayed.run)
    slots = prediction_slots(displayed.run, loaded)
    if not slots:
        mask = getattr(loaded.tokenizer, "mask_token", None)
        reason = (
            _("Write {mask} in the sentence, and the model guesses the missing token.")
            if loaded.entry.kind == "encoder" and mask and displayed.run.trace.logits is not None
            else _("{model} turns sentences into vectors; it was not trained to guess tokens.")
        )
        st.info(reason.format(mask=escape_markdown(mask or ""), model=escape_markdown(displayed.run.name)))
        return
    left, right = st.columns([1, 2])
    with left:
        temperature = widgets.slider(
            choices.TEMPERATURE,
            _("Temperature"),
            step=0.05,
            help=_(
                "Scores are divided by the temperature before softmax: 0 always takes the likeliest token, "
                "values above 1 spread the probability over more tokens."
            ),
        )
        top_k = widgets.slider(choices.TOP_K, _("Top-k"), help=_("How many of the likeliest tokens stay possible."))
    for number, slot in enumerate(slots):
        likeliest = token_choices(loaded, slot, 10, temperature, top_k)
        with right:
            _draw_probabilities(displayed, slot, number, likeliest, temperature, top_k)
        with left:
            _draw_append_buttons(displayed, slot, likeliest)


def _draw_probabilities(
    displayed: DisplayedHead, slot: Slot, number: int, likeliest: list[TokenChoice], temperature: float, top_k: int
) -> None:
    """Draw the likeliest tokens, and describe how temperature and top-k change the first one's share."""
    best = likeliest[0]
    template = (
        _("“{token}” comes next with a probability of {share:.1%}.")
        if slot.position is None
        else _("At position {position} the model would write “{token}”, with a probability of {share:.1%}.")
    )
    show.figure(
        show.chart_of(
            figures.bars,
            [choice.label for choice in likeliest],
            [choice.probability for choice in likeliest],
            [choice.sampling_probability for choice in likeliest],
            labels=(_("whole softmax"), _("after temperature and top-k")),
        ),
        name=f"next-token-{displayed.run.request.model}",
        key=f"next-{number}",
        sentence=template.format(position=slot.position, token=escape_markdown(best.label), share=best.probability),
        caption=_("{model} reads “{text}”.").format(model=displayed.run.name, text=displayed.run.request.text),
        table={
            "token": [c.label for c in likeliest],
            "probability": [c.probability for c in likeliest],
            "after temperature and top-k": [c.sampling_probability for c in likeliest],
        },
    )
    text = (
        _("Temperature 0 always takes “{token}”, whatever its share of the softmax over the whole vocabulary.")
        if temperature == 0
        else _(
            "At temperature {temperature:.2g}, with only the {k} {k:likeliest token|likeliest tokens} left, “{token}” "
            "is drawn with "
            "probability {share:.1%}."
        )
    )
    st.caption(
        text.format(
            token=escape_markdown(best.label), temperature=temperature, k=top_k, share=best.sampling_probability
        )
    )


def _draw_append_buttons(displayed: DisplayedHead, slot: Slot, likeliest: list[TokenChoice]) -> None:
    if slot.position is not None:
        return
    if displayed.run.source.frame == "chat":
        st.caption(
            _(
                "Under the chat template the model answers in a turn of its own, while the sentence is yours: a token "
                "appended to it would be put into your turn. Choose *nothing* or *as the model expects* under *How it "
                "is read* to append tokens."
            )
        )
        return
    _draw_writing_controls(displayed, slot)
    st.caption(_("Append a token to the sentence and see where it looks:"))
    with st.container(horizontal=True, gap="small"):
        for choice in likeliest:
            st.button(
                escape_markdown(choice.label),
                key=f"append-{choice.token}",
                on_click=_append,
                args=(displayed, choice.text),
                help=f"{Rounded(choice.probability):.2%}",
            )


def _draw_writing_controls(displayed: DisplayedHead, slot: Slot) -> None:
    """Draw the buttons for writing, and write the next token if any are left."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        count = widgets.number_box(choices.WRITE, _("Tokens"), step=1, width=110)
        st.button(_("Write"), icon=":material/edit:", key="begin-writing", on_click=_start_writing, args=(count,))
        st.button(_("Draw one"), icon=":material/casino:", key="draw-one", on_click=_start_writing, args=(1,))
        remaining = st.session_state.get(_LEFT, 0)
        if remaining:
            st.button(_("Stop"), icon=":material/stop:", key="stop-writing", on_click=_start_writing, args=(0,))
        undo = _previous_texts(displayed)
        st.button(_("Undo"), icon=":material/undo:", key="undo", on_click=_undo, args=(displayed,), disabled=not undo)
    if remaining:
        st.caption(_("Writing: {left} more to come.").format(left=remaining))
        _write_next_token(displayed, slot)
    elif st.session_state.pop(_LEFT, None) is not None:  # the last token is there: now the link follows
        link_state.set_and_push(_written_choice(displayed), link_state.value(_written_choice(displayed)))
    reason = st.session_state.pop(_WHY, None)
    if reason is not None:
        show_problem(reason)


def _start_writing(count: int) -> None:
    """Let the model write `count` tokens. A callback."""
    st.session_state[_LEFT] = count


def _append(displayed: DisplayedHead, text: str) -> None:
    """Append to the sentence and pin the new row, as one step of the browser's history. A callback."""
    link_state.set_many(_append_to_text(displayed, text))


def _written_choice(displayed: DisplayedHead) -> Choice[str]:
    """The choice that written tokens are appended to: SECOND for an encoder-decoder, else SENTENCE."""
    return choices.SECOND if displayed.run.target is not None else choices.SENTENCE


def _append_to_text(displayed: DisplayedHead, text: str) -> dict[Choice[Any], Any]:
    """Choices with `text` appended to the sentence; the text before it is remembered for undo."""
    field = _written_choice(displayed)
    before = link_state.value(field)
    _previous_texts(displayed).append(before)
    return {field: before + text, choices.PINS: {"t": [["q", choices.LAST]]}, choices.STAGE: None}


def _previous_texts(displayed: DisplayedHead) -> list[str]:
    """Texts before each written token, the latest last; empty once the visitor has typed."""
    texts: list[str] = st.session_state.setdefault(_BEFORE, [])
    if texts and not link_state.value(_written_choice(displayed)).startswith(texts[-1]):
        texts.clear()
    return texts


def _undo(displayed: DisplayedHead) -> None:
    """Remove the last written token. A callback."""
    texts = _previous_texts(displayed)
    if texts:
        link_state.set_many({_written_choice(displayed): texts.pop(), choices.PINS: None, choices.STAGE: None})


def _write_next_token(displayed: DisplayedHead, slot: Slot) -> None:
    """Sample the next token under temperature and top-k, append it, and rerun the page."""
    loaded = model_cache.model_of_run(displayed.run)
    temperature, top_k = link_state.value(choices.TEMPERATURE), link_state.value(choices.TOP_K)
    possible = token_choices(loaded, slot, top_k, temperature, top_k)
    chosen = _draw.choices(possible, [choice.sampling_probability for choice in possible])[0]
    limit = current_settings().token_limit
    if loaded.tokenizer is not None and chosen.token in loaded.tokenizer.all_special_ids:
        reason = Problem("The model ends its text here: it chose “{token}”.", token=chosen.label)
        st.session_state.update({_LEFT: 0, _WHY: reason})
    elif len(displayed.stack.queries) >= limit:
        reason = Problem("The sentence has {n} tokens; at most {limit} can be read here.", n=limit, limit=limit)
        st.session_state.update({_LEFT: 0, _WHY: reason})
    else:
        for choice, new in _append_to_text(displayed, chosen.text).items():
            link_state.set_value(choice, new)
        st.session_state[_LEFT] -= 1
    st.rerun(scope="app")
