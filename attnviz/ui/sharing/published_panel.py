"""What papers print, worked out again; and the quality that sharing costs."""

from __future__ import annotations

from typing import Any

import streamlit as st

from attnviz.figures import sharing_costs as figures
from attnviz.models.architecture import Architecture
from attnviz.models.claims import Claim, claims
from attnviz.models.published import quality
from attnviz.ui import show
from attnviz.ui.guard import guard
from attnviz.ui.sharing import code
from attnviz.ui.sharing.tables import columns, tabled
from attnviz.ui.text import plain, spoken
from attnviz.words import _, say


@st.fragment
def panel() -> None:
    with guard():
        _panel()


def _panel() -> None:
    _claims()
    _quality()
    code.counting(Architecture.preset("deepseek-v3"), 1)


@st.cache_resource(max_entries=1, show_spinner=False)
def _found() -> tuple[Claim, ...]:
    return claims()


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
    unit = {"x": _(" times"), "%": "%", "elements": _(" thousand numbers")}.get(claim.unit, f" {claim.unit}")
    return f"{claim.found:,.4g}{unit}"


def _row(claim: Claim) -> dict[str, Any]:
    verdicts = {"yes": _("reproduced"), "no": _("wrong"), "condition": _("only under a condition")}
    return {
        _("claim"): say(claim.said),
        _("found here"): _value(claim),
        _("verdict"): verdicts[claim.verdict],
        _("why"): say(claim.why),
        _("source"): claim.source,
    }


def _quality() -> None:
    st.subheader(_("Sharing is not free"), anchor=False)
    rows, source = quality()
    show.figure(
        figures.quality([row.model for row in rows], [row.seconds for row in rows], [row.score for row in rows]),
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
