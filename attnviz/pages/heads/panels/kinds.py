"""The heads that have a name, with the evidence for it; a row chooses its head."""

from __future__ import annotations

from typing import Any

import streamlit as st

from attnviz.app.text import spoken
from attnviz.base.words import _, listed
from attnviz.pages.heads import choices
from attnviz.pages.heads.maths import head_kinds
from attnviz.pages.heads.panels import map, measure_words
from attnviz.pages.heads.panels.head_surveys import ShownSurvey

ROW = 35  #: pixels of a table's row


def panel(shown: ShownSurvey, key: str) -> None:
    """A table of named heads."""
    found = head_kinds.named(shown.survey)
    st.markdown(_("**Heads with a name**"))
    if not found:
        st.caption(_("No head gives half of its weight to one of these patterns, on average over the sentences."))
        return
    columns = [each.column for each in found]

    def picked() -> None:
        rows = st.session_state[key]["selection"]["rows"]
        if rows and rows[0] < len(columns):
            map.pick(shown, columns[rows[0]])

    st.dataframe(
        [_row(shown, each) for each in found],
        hide_index=True,
        key=key,
        on_select=picked,
        selection_mode="single-row",
        height=ROW * (min(len(found), 11) + 1) + 3,
    )
    st.caption(
        _(
            "A head is named after a pattern that has half of its weight, averaged over the rows that the pattern "
            "fits: {counts}. At most five of a kind are listed; a row shows its head."
        ).format(counts=_counts(shown))
    )


def _row(shown: ShownSurvey, each: head_kinds.NamedHead) -> dict[str, Any]:
    row: dict[str, Any] = {
        _("called"): spoken(head_kinds.KINDS[each.kind][0]),
        _("head"): choices.name_of(shown.survey.places[each.column]),
        _("weight"): measure_words.with_error(each.mean, each.stderr, 2),
        _("in the first ten"): f"{each.stability:.0%}",
        _("sentences"): each.sentences,
    }
    if shown.has("silenced"):
        cost = shown.survey.measures["silenced"]
        mean, error = cost.mean[each.column], cost.stderr[each.column]
        row[_("cost, nats")] = measure_words.with_error(mean, error, 3, signed=True)
    return row


def _counts(shown: ShownSurvey) -> str:
    kinds = [kind for kind in head_kinds.KINDS if kind in shown.survey.measures]
    named = [(kind, head_kinds.count_of(shown.survey, kind)) for kind in kinds]
    return listed(f"{spoken(head_kinds.KINDS[kind][0])} {count}" for kind, count in named if count)
