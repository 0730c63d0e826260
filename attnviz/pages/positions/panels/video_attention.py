"""Self-attention over a small video's patches, drawn where they lie: what q and k's norm and the rotations do."""

from __future__ import annotations

import numpy as np
import streamlit as st

from attnviz.app import show, widgets
from attnviz.app.cache.kept_charts import chart_of
from attnviz.app.code_snippet import snippet
from attnviz.base.words import _, sentences
from attnviz.pages.positions import choices
from attnviz.pages.positions.figures import video as figures
from attnviz.pages.positions.maths import video_attention
from attnviz.pages.positions.panels import position_results


def panel() -> None:
    """Draw the controls, the frames and the program."""
    st.subheader(_("The same on a video that holds something"), anchor=False)
    config = _controls()
    result = position_results.video_attention_of(config)
    _frames(result)
    snippet(video_attention.program(config), "p-video-attention")


def _controls() -> video_attention.Config:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        digit = int(widgets.number(choices.VIDEO_DIGIT, _("Digit that moves"), step=1, width=130))
        labels = (_("Query: frame"), _("Query: row"), _("Query: column"))
        at = [
            int(widgets.number(choice, label, step=1, width=130))
            for choice, label in zip(choices.VIDEO_AT, labels, strict=True)
        ]
        head = int(widgets.number(choices.VIDEO_HEAD, _("Head"), step=1, width=100))
        turned = widgets.toggle(choices.VIDEO_TURNED, _("Rotate by time, height and width"))
        normed = widgets.toggle(choices.VIDEO_NORMED, _("Normalise q and k"))
    return video_attention.Config(digit, (at[0], at[1], at[2]), head, turned, normed)


def _frames(result: video_attention.Result) -> None:
    config, row = result.config, result.row
    frame, high, wide = (each.ravel() for each in np.indices(row.shape))
    table = {"frame": frame, "row": high, "column": wide, "weight": row.ravel()}
    show.figure(
        chart_of(figures.lit_frames, result.video, row, config.at),
        name="video-attention",
        key="p_video_attention",
        table=table,
        words=_words(result),
    )


def _words(result: video_attention.Result) -> str:
    config, row = result.config, result.row
    flat = row.ravel()
    said = _(
        "The patch with the blue frame gives itself {own}, its own frame {same}, and {most} at most to one patch: that "
        "is full light. Weights are random (seed {seed}); q and k come of one matrix, so that like finds like."
    ).format(
        own=f"{flat[result.query]:.1%}",
        same=f"{row[config.at[0]].sum():.0%}",
        most=f"{flat.max():.1%}",
        seed=config.seed,
    )
    if not result.twins:
        return sentences(said, _("No other patch holds exactly its pixels."))
    twins = flat[list(result.twins)]
    if config.turned:
        told = _(
            "{count} other patches hold exactly its pixels, and get from {least} to {most}: the rotations tell them "
            "apart by where they are."
        )
    else:
        told = _("{count} other patches hold exactly its pixels, and get {least} each, wherever they are.")
    return sentences(said, told.format(count=len(twins), least=f"{twins.min():.1%}", most=f"{twins.max():.1%}"))
