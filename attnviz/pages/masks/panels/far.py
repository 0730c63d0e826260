"""The mask rules applied to 4,096 words, without building the matrix."""

from __future__ import annotations

import streamlit as st

from attnviz.app import show
from attnviz.app.cache.kept_charts import chart_of
from attnviz.base.words import _, sentences
from attnviz.pages.masks.figures import masks as figures
from attnviz.pages.masks.maths import far_view, mask_lab, mask_rules


@st.cache_resource(max_entries=32, show_spinner=False)
def computed(rules: tuple[mask_rules.Rule, ...]) -> far_view.Far:
    return far_view.run(rules)


def panel(config: mask_lab.Config) -> None:
    """Draw the mask in tiles on the left and what it costs on the right."""
    far = computed(config.rules)
    picture, numbers = st.columns([3, 2], gap="large")
    with picture:
        show.figure(
            chart_of(figures.far, far.density, far.length),
            name="mask-at-4096",
            key="m-far",
            table=_table(far),
            words=_(
                "Each dot is a tile of {tile} x {tile} pairs; brightness is the share that is kept, on a root scale so "
                "that a thin band shows."
            ).format(tile=far_view.TILE),
        )
    with numbers:
        _numbers(far)
        if config.paint:
            st.info(_("Painted cells belong to your sentence, so only the rules are drawn here."), icon="🖌️")


def _numbers(far: far_view.Far) -> None:
    empty, partial, full = far.blocks
    blocks = empty + partial + full
    st.metric(
        _("Pairs kept"),
        f"{far.pairs:,}",
        help=_("Counted exactly: every pair was checked, {rows} rows at a time.").format(rows=far_view.TILE)
        if far.by_lot
        else _("Counted exactly, from where each word’s stretch of keys begins and ends."),
    )
    st.metric(_("Share of the full square"), f"{far.pairs / far.square:.2%}")
    st.metric(_("Blocks that FlexAttention computes"), _("{some} of {all}").format(some=partial + full, all=blocks))
    st.markdown(
        _(
            "FlexAttention works in blocks of {side} x {side}: {empty} hold no pair and are skipped, {full} are kept "
            "whole, {partial} are computed and masked: {work} of the full work for {share} of the pairs."
        ).format(
            side=far_view.FLEX_BLOCK,
            empty=empty,
            full=full,
            partial=partial,
            work=f"{(partial + full) / blocks:.1%}",
            share=f"{far.pairs / far.square:.1%}",
        )
    )
    st.markdown(
        sentences(
            _(
                "The whole matrix was never built: it would take {matrix:.1f} MB as booleans, or {floats:.1f} MB "
                "as float32 for each sequence."
            ).format(matrix=far.matrix_bytes / 1e6, floats=4 * far.matrix_bytes / 1e6),
            _held(far),
        )
    )


def _held(far: far_view.Far) -> str:
    """A sentence on what was in memory in place of the matrix."""
    if far.by_lot:
        return _(
            "This mask draws its keys at random, so it was built one strip of {rows} rows at a time: {strip:.2f} MB."
        ).format(rows=far_view.TILE, strip=far_view.TILE * far.length / 1e6)
    tiles = far.length // far_view.TILE
    return _(
        "Instead, {tiles} numbers were counted for each word, one for each column of tiles: {counts:.2f} "
        "million in all."
    ).format(tiles=tiles, counts=tiles * far.length / 1e6)


def _table(far: far_view.Far) -> dict[str, list[object]]:
    n = len(far.density)
    return {
        "first query": [q * far_view.TILE for q in range(n) for _k in range(n)],
        "first key": [k * far_view.TILE for _q in range(n) for k in range(n)],
        "share kept": far.density.ravel().tolist(),
    }
