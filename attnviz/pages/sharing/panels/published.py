"""The view “What others print”: published numbers worked out again, and the quality that sharing costs."""

from __future__ import annotations

from typing import Any

import streamlit as st

from attnviz.app import show
from attnviz.app.cache.kept_charts import chart_of
from attnviz.app.fragment import fragment
from attnviz.app.guarding import guard
from attnviz.app.show import columns, tabled
from attnviz.app.text import plain, spoken
from attnviz.base.words import _, say
from attnviz.models.architecture import Claim, claims, quality
from attnviz.pages.sharing.figures import costs as figures
from attnviz.pages.sharing.panels import sharing_programs


@fragment
def panel() -> None:
    with guard():
        _panel()


def _panel() -> None:
    _claims()
    quality_panel()
    sharing_programs.published()


_found = st.cache_resource(max_entries=1, show_spinner=False)(claims)


def _claims() -> None:
    st.subheader(_("Published numbers, worked out again"), anchor=False)
    found = _found()
    for claim in [claim for claim in found if claim.verdict != "yes"]:
        mark = {"no": "❌", "condition": "⚠️"}[claim.verdict]
        with st.container(border=True):
            st.markdown(f"{mark} **{spoken(claim.said)}** — {plain(claim.source)}")
            st.markdown(
                _("The architecture gives **{found}**. {why}.").format(found=_value(claim), why=spoken(claim.why))
            )
    tabled(columns([_row(claim) for claim in found]), "published-numbers", "h-claims")


def _value(claim: Claim) -> str:
    found = f"{claim.found:,.4g}"
    if claim.unit == "x":
        return _("{n} times").format(n=found)
    if claim.unit == "elements":
        return _("{n} thousand numbers").format(n=found)
    return f"{found}%" if claim.unit == "%" else f"{found} {claim.unit}"


def _row(claim: Claim) -> dict[str, Any]:
    verdicts = {"yes": _("reproduced"), "no": _("wrong"), "condition": _("only under a condition")}
    return {
        _("claim"): say(claim.said),
        _("found here"): _value(claim),
        _("verdict"): verdicts[claim.verdict],
        _("why"): say(claim.why),
        _("source"): claim.source,
    }


def quality_panel() -> None:
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
