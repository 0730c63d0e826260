"""The ten likeliest next tokens; a click appends one to the sentence."""

from __future__ import annotations

import streamlit as st

from attnviz.app import show, widgets
from attnviz.app.cache import model_cache
from attnviz.app.cache.kept_charts import chart_of
from attnviz.app.text import plain
from attnviz.base.words import _
from attnviz.figures import attention_figures as figures
from attnviz.models.catalogue import LoadedModel
from attnviz.pages.explore import choices
from attnviz.pages.explore.panels import writing
from attnviz.pages.explore.panels.shown_head import Shown
from attnviz.runs.predictions import Slot, TokenChoice, slots, token_choices


def panel(shown: Shown) -> None:
    """Draw the probabilities of the next token, or of a masked one, under a temperature and top-k."""
    loaded = model_cache.model_of(shown.run)
    places = slots(shown.run, loaded)
    if not places:
        _say_why_not(shown, loaded)
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
    for number, slot in enumerate(places):
        found = token_choices(loaded, slot, 10, temperature, top_k)
        with right:
            _chart(shown, slot, number, found)
            _drawing(found[0], temperature, top_k)
        with left:
            _buttons(shown, slot, found)


def _chart(shown: Shown, slot: Slot, number: int, found: list[TokenChoice]) -> None:
    best = found[0]
    if slot.position is None:
        words = _("“{token}” comes next with a probability of {share:.1%}.").format(
            token=plain(best.label), share=best.probability
        )
    else:
        words = _("At position {position} the model would write “{token}”, with a probability of {share:.1%}.").format(
            position=slot.position, token=plain(best.label), share=best.probability
        )
    show.figure(
        chart_of(
            figures.bars,
            [choice.label for choice in found],
            [choice.probability for choice in found],
            [choice.drawn for choice in found],
            labels=(_("whole softmax"), _("after temperature and top-k")),
        ),
        name=f"next-token-{shown.run.request.model}",
        key=f"next-{number}",
        words=words,
        caption=_("{model} on “{text}”").format(model=shown.run.name, text=shown.run.request.text),
        table={
            "token": [c.label for c in found],
            "probability": [c.probability for c in found],
            "after temperature and top-k": [c.drawn for c in found],
        },
    )


def _drawing(best: TokenChoice, temperature: float, top_k: int) -> None:
    """What the two sliders make of the likeliest token's share, and why."""
    if temperature == 0:
        said = _("Temperature 0 always takes “{token}”, whatever its share of the softmax over the whole vocabulary.")
    else:
        said = _(
            "Divided by temperature {temperature:.2g}, and shared out again among the {k} likeliest tokens alone, "
            "“{token}” is drawn with {share:.1%}."
        )
    st.caption(said.format(token=plain(best.label), temperature=temperature, k=top_k, share=best.drawn))


def _buttons(shown: Shown, slot: Slot, found: list[TokenChoice]) -> None:
    if slot.position is not None:
        return
    if shown.run.source.frame == "chat":
        st.caption(
            _(
                "Under the chat template the model answers in a turn of its own, while the sentence is yours: a token "
                "appended to it would be put into your turn. Choose *nothing* or *as the model expects* under *How it "
                "is read* to append tokens."
            )
        )
        return
    writing.controls(shown, slot)
    st.caption(_("Append a token to the sentence and see where it looks:"))
    with st.container(horizontal=True, gap="small"):
        for choice in found:
            clicked = st.button(
                plain(choice.label), key=f"append-{choice.token}", on_click=_append, args=(shown, choice),
                help=f"{choice.probability:.2%}",
            )  # fmt: skip
            if clicked:
                st.rerun(scope="app")  # a click reruns only the picture, and the sentence stands above it


def _append(shown: Shown, choice: TokenChoice) -> None:
    """Append a token to the sentence and pin its row. A callback."""
    writing.append(shown, choice.text)


def _say_why_not(shown: Shown, loaded: LoadedModel) -> None:
    kind = loaded.entry.kind
    mask = getattr(loaded.tokenizer, "mask_token", None)
    if kind == "encoder" and mask and shown.run.trace.logits is not None:
        st.info(_("Write {mask} in the sentence, and the model guesses the missing token.").format(mask=plain(mask)))
    else:
        st.info(
            _("{model} turns sentences into vectors; it was not trained to guess tokens.").format(
                model=plain(shown.run.name)
            )
        )
