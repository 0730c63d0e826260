"""How far information from a word can travel in n layers."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from attnviz.app import show, widgets
from attnviz.app.cache.kept_charts import chart_of
from attnviz.app.text import named_word
from attnviz.base.words import _, ngettext, sentences
from attnviz.pages.masks import choices
from attnviz.pages.masks.figures import masks as figures
from attnviz.pages.masks.maths import mask_lab


def panel(result: mask_lab.Result) -> None:
    """Draw the number of layers to choose, the layer after which each key reaches each query, and how reach grows."""
    st.markdown(
        _(
            "After one layer a word has heard of the words that it may look at; after the next, also of the "
            "words that *they* had heard of. The residual stream keeps what was there before. The pictures "
            "show what can arrive, whatever the weights are."
        )
    )
    layers = widgets.slider(choices.LAYERS, _("Layers"), width=420)
    counts = np.stack([result.reached(n) for n in range(mask_lab.MOST_LAYERS + 1)])
    left, right = st.columns(2, gap="medium")
    with left:
        show.figure(
            chart_of(figures.hops, result.hops, result.words, layers),
            name=f"layers-needed-{layers}",
            key="m-hops",
            table=_table(result),
            words=_hops_words(result.hops, layers),
        )
    with right:
        show.figure(
            chart_of(figures.reach, counts, len(result.words), layers),
            name="receptive-field",
            key="m-reach",
            table={"layers": list(range(mask_lab.MOST_LAYERS + 1)), "last word": counts[:, -1], "mean": counts.mean(1)},
            words=_reach_words(result, counts, layers),
        )


def _hops_words(hops: np.ndarray, layers: int) -> str:
    """What the numbers are, and which of the grey cells more layers would fill; -1 is never within MOST_LAYERS."""
    growing = int(hops.max()) == mask_lab.MOST_LAYERS  # else the last layer reached nothing new, nor would another
    never, later = bool((hops < 0).any()), bool((hops > layers).any())
    if never and growing:
        return _(
            "Each number is the layer after which the key has reached the query; grey cells need more layers, some "
            "more than {n} if they are reached at all."
        ).format(n=mask_lab.MOST_LAYERS)
    if never and later:
        return _(
            "Each number is the layer after which the key has reached the query. Of the grey cells some need more "
            "layers, and some are never reached."
        )
    if later:
        return _("Each number is the layer after which the key has reached the query; grey cells need more layers.")
    if never:
        return _(
            "Each number is the layer after which the key has reached the query; grey cells are never reached, "
            "however many layers follow."
        )
    return _("Each number is the layer after which the key has reached the query.")


def _reach_words(result: mask_lab.Result, counts: np.ndarray, layers: int) -> str:
    last = named_word(result.words[-1])
    first = ngettext(
        "After {n} layer {token} has heard of {heard} of {all} words.",
        "After {n} layers {token} has heard of {heard} of {all} words.",
        layers,
    ).format(n=layers, token=last, heard=int(counts[layers, -1]), all=len(result.words))
    return sentences(first, _what_follows(counts[:, -1], layers, len(result.words)))


def _what_follows(heard: np.ndarray, layers: int, words: int) -> str:
    """A sentence on what more layers would add; `heard` counts the words heard of after 0, 1, 2... layers."""
    final, most = int(heard[-1]), len(heard) - 1
    needed = int((heard < final).sum())
    if layers >= needed and final == words:
        return _("More layers can add nothing.")
    if needed == most and final < words:
        return _("After {n} layers it is {heard}, and still growing.").format(n=most, heard=final)
    if layers >= needed:
        return _("It hears of no others, however many layers follow.")
    return ngettext(
        "With {n} layer it is {heard}, and more layers add nothing.",
        "With {n} layers it is {heard}, and more layers add nothing.",
        needed,
    ).format(n=needed, heard=final)


def _table(result: mask_lab.Result) -> dict[str, list[Any]]:
    n = len(result.words)
    return {
        "query": [q for q in range(n) for _k in range(n)],
        "key": list(range(n)) * n,
        "query word": [word for word in result.words for _k in range(n)],
        "key word": list(result.words) * n,
        "layers (-1 never)": result.hops.ravel().tolist(),
    }
