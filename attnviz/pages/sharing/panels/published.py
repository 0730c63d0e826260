"""The view “What others print”: published numbers worked out again, and the quality that sharing costs."""

from __future__ import annotations

from typing import Any

import streamlit as st

from attnviz.app.guarding import guard
from attnviz.app.tables import columns, tabled
from attnviz.app.text import plain, spoken
from attnviz.base.words import _, say
from attnviz.models.architecture import Claim, claims
from attnviz.pages.sharing.panels import quality, sharing_programs


@st.fragment
def panel() -> None:
    with guard():
        _panel()


def _panel() -> None:
    _claims()
    quality.panel()
    sharing_programs.published()


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
