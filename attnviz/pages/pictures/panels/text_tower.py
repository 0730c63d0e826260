"""The other tower of a model that compares pictures with descriptions: which word of one looks at which."""

from __future__ import annotations

import numpy as np
import streamlit as st

from attnviz.app import show, widgets
from attnviz.app.text import plain, quoted
from attnviz.base.words import _
from attnviz.figures.attention_figures import side_by_side
from attnviz.pages.pictures import choices
from attnviz.pages.pictures.maths.picture_record import TextTower

MOST_TOKENS = 24  #: shown of a description; SigLIP fills each up to 64


def draw(tower: TextTower) -> None:
    """Draw one head of the tower that reads the descriptions."""
    st.subheader(_("The tower that reads"), anchor=False)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        names = {str(at): plain(name) for at, name in enumerate(tower.names)}
        which = int(widgets.one_of(choices.DESCRIPTION, _("Description"), names, style="select"))
        layers = len(tower.layers)
        layer = int(widgets.number(choices.TEXT_LAYER, _("Layer"), step=1, high=layers - 1, width=120))
        heads = tower.layers[layer].n_heads
        head = int(widgets.number(choices.TEXT_HEAD, _("Head"), step=1, high=heads - 1, width=120))
    words = tower.tokens[which][:MOST_TOKENS]
    whole = tower.layers[layer].weights(head)[which, 0].float().cpu().numpy()
    weights = whole[: len(words), : len(words)]
    row, column = np.unravel_index(int(np.where(np.eye(len(words)) > 0, -1, weights).argmax()), weights.shape)
    at = [(q, k) for q in range(len(words)) for k in range(len(words))]
    show.figure(
        side_by_side([(_("Layer {layer}, head {head}").format(layer=layer, head=head), weights)], words, words),
        name=f"text-tower-layer{layer}-head{head}",
        key="pic_text_tower",
        table={
            "query": [words[q] for q, _k in at],
            "key": [words[k] for _q, k in at],
            "weight": [f"{weights[q, k]:.6g}" for q, k in at],
        },
        words=_("Beside itself, {query} looks most at {key} ({share}) of all pairs in this head.").format(
            query=quoted(words[int(row)]), key=quoted(words[int(column)]), share=f"{weights[row, column]:.0%}"
        ),
    )
