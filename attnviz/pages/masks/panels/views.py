"""Under the mask: its rules over thousands of words."""

import streamlit as st

from attnviz.app import show
from attnviz.app.cache.shared_results import shared
from attnviz.base.rounding import Rounded
from attnviz.base.words import _, join_sentences
from attnviz.pages.masks import figures
from attnviz.pages.masks.maths import mask_lab

cached_tiles = shared(mask_lab.count_in_tiles)


# The mask rules applied to 4,096 words, without building the matrix.
def far_panel(config: mask_lab.Config) -> None:
    """Draw the mask in tiles on the left and what it costs on the right."""
    st.subheader(_("At 4,096 words"), anchor=False)
    far = cached_tiles(config.rules)
    n = len(far.density)
    picture, numbers = st.columns([3, 2], gap="large")
    with picture:
        show.figure(
            show.chart_of(figures.density_map, far.density, far.length),
            name="mask-at-4096",
            key="m-far",
            table={
                "first query": [q * mask_lab.TILE for q in range(n) for _k in range(n)],
                "first key": [k * mask_lab.TILE for _q in range(n) for k in range(n)],
                "share kept": far.density.ravel().tolist(),
            },
            sentence=_(
                "Each dot is a tile of {tile} × {tile} pairs; brightness is the share that is kept, on a root scale so "
                "that a thin band shows."
            ).format(tile=mask_lab.TILE),
        )
    with numbers:
        _draw_counts(far)
        if config.paint:
            st.info(
                _("Painted cells belong to your sentence, so only the rules are drawn here."), icon=":material/brush:"
            )


def _draw_counts(far: mask_lab.TiledMask) -> None:
    empty, partial, full = far.blocks
    blocks = empty + partial + full
    st.metric(
        _("Pairs kept"),
        f"{far.pairs:,}",
        help=_("Counted exactly: every pair was checked, {rows} rows at a time.").format(rows=mask_lab.TILE),
    )
    st.metric(_("Share of the full square"), f"{Rounded(far.pairs / far.square):.2%}")
    st.metric(_("Blocks that FlexAttention computes"), _("{some} of {all}").format(some=partial + full, all=blocks))
    st.markdown(
        _(
            "FlexAttention works in blocks of {side} × {side}: {empty} hold no pair and are skipped, {full} are kept "
            "whole, {partial} are computed and masked: {work} of the full work for {share} of the pairs."
        ).format(
            side=mask_lab.FLEX_BLOCK,
            empty=empty,
            full=full,
            partial=partial,
            work=f"{Rounded((partial + full) / blocks):.1%}",
            share=f"{Rounded(far.pairs / far.square):.1%}",
        )
    )
    st.markdown(
        join_sentences(
            _(
                "The whole matrix was never built: it would take {matrix:.1f} MB as booleans, or {floats:.1f} MB "
                "as float32 for each sequence."
            ).format(matrix=far.square / 1e6, floats=4 * far.square / 1e6),
            _memory_sentence(far),
        )
    )


def _memory_sentence(far: mask_lab.TiledMask) -> str:
    """Say what was in memory instead of the whole matrix."""
    if far.by_lot:
        return _(
            "This mask draws its keys at random, so it was built one strip of {rows} rows at a time: {strip:.2f} MB."
        ).format(rows=mask_lab.TILE, strip=mask_lab.TILE * far.length / 1e6)
    tiles = far.length // mask_lab.TILE
    return _(
        "Instead, {tiles} numbers were counted for each word, one for each column of tiles: {counts:.2f} "
        "million in all."
    ).format(tiles=tiles, counts=tiles * far.length / 1e6)
