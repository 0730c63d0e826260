"""What sharing costs in quality: quoted from the GQA paper, because measuring it would take training."""

from __future__ import annotations

import streamlit as st

from attnviz.app import show
from attnviz.app.cache.kept_charts import chart_of
from attnviz.base.words import _
from attnviz.models.architecture import quality
from attnviz.pages.sharing.figures import costs as figures


def panel() -> None:
    """Draw table 1 of the GQA paper."""
    st.subheader(_("Sharing is not free"), anchor=False)
    rows, source = quality()
    show.figure(
        chart_of(
            figures.quality, [row.model for row in rows], [row.seconds for row in rows], [row.score for row in rows]
        ),
        name="gqa-quality",
        key="h-quality",
        words=_(
            "Quoted, not measured here: with one K/V head the XXL model loses {mqa:.1f} points of its average score "
            "and is {faster:.1f} times as fast; with 8 it loses {gqa:.1f} and is {fast:.1f} times as fast."
        ).format(
            mqa=rows[1].score - rows[2].score,
            faster=rows[1].seconds / rows[2].seconds,
            gqa=rows[1].score - rows[3].score,
            fast=rows[1].seconds / rows[3].seconds,
        ),
        caption=source,
        table={
            "model": [row.model for row in rows],
            "seconds a sample": [row.seconds for row in rows],
            "average score": [row.score for row in rows],
        },
    )
    said = _("Source: {source}. Both shared models were trained further after their heads were pooled.")
    st.caption(said.format(source=source))
