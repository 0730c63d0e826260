"""Why several heads: one softmax must blur what several can keep apart, measured."""

from __future__ import annotations

import numpy as np
import streamlit as st

from attnviz.app import show, widgets
from attnviz.app.cache.kept_charts import chart_of
from attnviz.base.words import _, listed
from attnviz.figures.attention_figures import side_by_side
from attnviz.pages.build import choices, figures
from attnviz.pages.build.maths import attention_by_hand, many_heads

STAND_IN = ("the", "cat", "sat", "on", "the", "mat")  # for sentences too short to have two neighbours
WIDTH = 12


def panel(result: attention_by_hand.Result) -> None:
    """Compare one head of width M with H heads of width M/H, on a pattern with H things to look at."""
    words = result.q_words[0] if len(result.q_words[0]) >= 5 else STAND_IN
    heads_at, share_at = st.columns(2, gap="large")
    with heads_at:
        label = _("Places that each word has to look at")
        heads = int(widgets.one_of(choices.THINGS, label, {n: n for n in choices.THINGS.ids}))
    with share_at:
        share = widgets.slider(choices.SHARE, _("Share of the single head's weight for the first"), step=0.05)
    measured = many_heads.run(many_heads.Config(words, d_model=WIDTH, n_heads=heads, share=share))
    places = [_place_name(offset) for offset in measured.offsets]
    st.markdown(
        _(
            "Every word must collect {things}, each in columns of its own. One head of width {m} can only hand "
            "over a mixture, and no matrix after it can separate the parts: it loses **{one}** of the signal. "
            "{n} heads of width {d} lose **{many}**, with the same {p} weights."
        ).format(
            things=listed(places),
            m=WIDTH,
            one=f"{measured.blur_one.mean():.0%}",
            many=f"{measured.blur_heads.mean():.0%}",
            n=heads,
            d=WIDTH // heads,
            p=measured.parameters,
        )
    )
    left, right = st.columns([1.5, 1], gap="large")
    with left:
        _patterns(measured, words)
    with right:
        _lost(measured, places, share)


def _patterns(measured: many_heads.Result, words: tuple[str, ...]) -> None:
    """Draw where the single head looks, and where the first two of several heads look."""
    parts = [(_("one head"), measured.one_head)]
    parts += [(_("head {h}").format(h=h + 1), weights) for h, weights in enumerate(measured.heads[:2])]
    columns = {name: weights.ravel().tolist() for name, weights in parts}
    show.figure(
        chart_of(side_by_side, parts, words, words, repeat_rows=False),
        name="one-head-or-several",
        key="b_heads",
        table={"query": [q for q in words for _k in words], "key": [k for _q in words for k in words]} | columns,
        words=_(
            "One softmax shares its 100% between the places; with a head for each, every place gets all of it. The "
            "sentence is read as a ring here, so that every word has neighbours: before the first word stands the last."
        ),
    )


def _lost(measured: many_heads.Result, places: list[str], share: float) -> None:
    """Draw what the single head loses, for every way to divide its weight."""
    blur = measured.blur_by_share
    show.figure(
        chart_of(figures.blur_by_share, measured.shares, blur, places, share),
        name="blur-by-share",
        key="b_blur",
        table={"share": measured.shares.tolist()} | {name: blur[:, h].tolist() for h, name in enumerate(places)},
        words=_(
            "However the single head divides its weight, about {lost} of the signal is lost; "
            "only where it is lost changes."
        ).format(lost=f"{float(np.median(blur.mean(1))):.0%}"),
    )


def _place_name(offset: int) -> str:
    return {
        -1: _("the word before"),
        1: _("the word after"),
        -2: _("the one before that"),
        2: _("the one after that"),
    }[offset]
