"""What a change does behind the head itself: to the heads of later layers and to the next token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from attnviz.app import head_drawing, show
from attnviz.app.cache import model_cache
from attnviz.app.cache.kept_charts import chart_of
from attnviz.app.text import plain
from attnviz.base.head_edit import HeadEdit
from attnviz.base.words import _, listed, ngettext
from attnviz.figures import attention_figures as figures
from attnviz.models.capture import Trace
from attnviz.pages.explore.panels.shown_head import Shown, caption_of
from attnviz.runs import head_matrix
from attnviz.runs import what_if as experiment
from attnviz.runs.predictions import changes, slots

MOST_NAMED = 5  # heads


def say_what_is_silenced(shown: Shown, edit: HeadEdit) -> None:
    """Say that silencing a head leaves its weights as they are, and what it takes away."""
    stack = shown.stack
    here = (shown.layer, shown.head)
    if here in edit.silenced:
        st.info(
            _(
                "Layer {layer}, head {head} still looks where it looked: its own weights cannot change. What is "
                "replaced by zeros is its output, its weights times the values, which was {length:.2f} long, mean "
                "over tokens, before W_O. What that changes is in the layers after it and in the next token."
            ).format(layer=shown.layer, head=shown.head, length=experiment.output_length(stack, *here))
        )
    elif shown.layer <= min(layer for layer, _head in edit.silenced):
        st.info(
            _(
                "Layer {layer} reads what the layers before it wrote, so silencing a head of layer {silenced} cannot "
                "change its weights. What it changes is in the layers after it and in the next token."
            ).format(layer=shown.layer, silenced=min(layer for layer, _head in edit.silenced))
        )


def stand_in(shown: Shown, moved: experiment.Movement) -> Shown:
    """Say that another head is drawn, because the chosen one stays as it is; the page as if that head was chosen."""
    st.markdown(
        _(
            "Drawn is the head that changes most: **layer {layer}, head {head}**, in which {share:.1%} of the weight "
            "moves to other tokens, mean over rows."
        ).format(layer=moved.layer, head=moved.head, share=moved.share)
    )
    matrix = head_matrix.head_matrix(shown.stack, moved.layer, moved.head, shown.look)
    return replace(shown, layer=moved.layer, head=moved.head, matrix=matrix)


def draw(shown: Shown, edit: HeadEdit, trace: Trace, moved: Sequence[experiment.Movement]) -> None:
    """Draw the next token before and after, and name the heads whose weights moved most."""
    run, loaded = shown.run, model_cache.model_of(shown.run)
    for number, (old, new) in enumerate(zip(slots(run, loaded), slots(run, loaded, trace), strict=True)):
        found, share = changes(loaded, old, new)
        most = max(found, key=lambda one: abs(one.after - one.before))
        words = _(
            "{share:.1%} of the probability moved to other tokens. Of the tokens drawn “{token}” changes most, from "
            "{before:.1%} to {after:.1%}."
        ).format(share=share, token=plain(most.label), before=most.before, after=most.after)
        show.figure(
            chart_of(
                figures.bars,
                [c.label for c in found], [c.before for c in found], [c.after for c in found],
                labels=(_("before"), _("after")),
            ),
            name=f"what-if-next-{run.request.model}",
            key=f"what-if-next-{number}",
            words=words,
            caption=caption_of(shown, *head_drawing.in_words(edit, shown.stack, shown.layer)),
            table={"token": [c.label for c in found], "before": [c.before for c in found],
                   "after": [c.after for c in found]},
        )  # fmt: skip
    _name_heads(moved)


def _name_heads(moved: Sequence[experiment.Movement]) -> None:
    if not moved:
        st.markdown(_("No head's weights moved by more than 0.05%."))
        return
    named = listed(f"{one.layer}.{one.head} ({one.share:.1%})" for one in moved[:MOST_NAMED])
    said = ngettext(
        "One head's weights moved (share of weight, mean over rows): {heads}",
        "{n} heads' weights moved by more than 0.05%, these most (share of weight, mean over rows): {heads}",
        len(moved),
    )
    st.markdown(said.format(heads=named, n=len(moved)))
