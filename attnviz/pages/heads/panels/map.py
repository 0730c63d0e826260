"""The map of all heads, and the plane of two measures: each point chooses a head."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import streamlit as st

from attnviz.app import show
from attnviz.app.cache.kept_charts import chart_of
from attnviz.app.links import link_state
from attnviz.app.links.choices import Choice
from attnviz.app.text import plain, spoken
from attnviz.app.widgets import one_of
from attnviz.base.words import _, listed, sentences
from attnviz.pages.heads import choices, figures
from attnviz.pages.heads.maths import head_kinds, head_survey
from attnviz.pages.heads.panels import head_controls
from attnviz.pages.heads.panels.head_surveys import ShownSurvey, offer_costs

NAMED_POINTS = 4


def heads_map(shown: ShownSurvey, by: str, chosen: int | None, key: str) -> None:
    """Every head of one model, coloured by one measure."""
    words = head_controls.measures()
    if not shown.has(by):
        st.markdown(f"**{plain(shown.name)}**")
        if shown.decoder:
            st.info(_("This has not been measured on these sentences yet."))
            offer_costs(shown)
        else:
            st.info(_("{name} does not predict the next token: it has no such cost.").format(name=plain(shown.name)))
        return
    measure = shown.survey.measures[by]
    show.figure(
        chart_of(
            figures.pickable_map,
            measure.mean,
            shown.survey.places,
            measure.stderr,
            title=_("{name}: {measure}").format(name=shown.name, measure=words[by]),
            signed=by in head_survey.COSTS,
            chosen=chosen,
        ),
        name=f"heads-{by}-{shown.model}",
        key=key,
        table=table_of(shown.survey),
        words=_said_of_map(shown, by),
        caption=sentences(_said_of_map(shown, by), said_of_source(shown)),
        on_pick=lambda column: pick(shown, column),
    )


def plane(shown: ShownSurvey, by: str, chosen: int | None, key: str) -> None:
    """One point a head: the measure of the map across, another one up."""
    words = head_controls.measures()
    offered = {name: said for name, said in head_controls.offered(shown.decoder).items() if name != by}
    against = one_of(choices.AGAINST, _("against"), offered, style="select")
    if not shown.has(by) or not shown.has(against):
        st.info(_("This has not been measured on these sentences yet."))
        offer_costs(shown)
        return
    x, y = shown.survey.measures[by].mean, shown.survey.measures[against].mean
    show.figure(
        chart_of(
            figures.against,
            x,
            y,
            shown.survey.places,
            title=_("{measure} against {other}").format(measure=words[by], other=words[against]),
            x_title=words[by],
            y_title=words[against],
            chosen=chosen,
            named=[int(n) for n in np.argsort(-np.nan_to_num(np.abs(y), nan=-1))[:NAMED_POINTS]],
        ),
        name=f"heads-{by}-against-{against}-{shown.model}",
        key=key,
        table=table_of(shown.survey),
        words=_said_of_plane(shown, by, against),
        on_pick=lambda column: pick(shown, column),
    )


def pick(shown: ShownSurvey, column: int) -> None:
    """Choose a head. A callback."""
    if 0 <= column < len(shown.survey.places):
        changes: dict[Choice[Any], Any] = {
            choices.OF: shown.section,
            choices.AT: shown.survey.places[column],
            choices.EXAMPLE: choices.EXAMPLE.default,
        }
        link_state.put_all(changes)


def table_of(survey: head_survey.Survey) -> dict[str, list[object]]:
    """Every measure of every head."""
    columns: dict[str, list[object]] = {
        "layer": [layer for layer, _head in survey.places],
        "head": [head for _layer, head in survey.places],
    }
    for name, measure in survey.measures.items():
        for each in ("mean", "stderr", "stability"):
            values = getattr(measure, each)
            columns[f"{name} {each}"] = ["" if math.isnan(value) else float(f"{value:.5g}") for value in values]
        columns[f"{name} sentences"] = measure.counts.tolist()
    return columns


def said_of_source(shown: ShownSurvey) -> str:
    """Which sentences, and how they were read."""
    about, config = shown.survey.about, shown.config
    texts = {
        "books": _("{n} passages of eight novels of 1813 to 1897, each cut at {length} tokens."),
        "repeated": _("{n} texts of random words twice over, {length} tokens each, seed {seed}."),
        "own": _("{n} sentences of your own text, each cut at {length} tokens."),
    }
    said = texts[config.text].format(n=len(shown.survey.sentences), length=config.length, seed=config.seed)
    if about:
        made = _("Computed beforehand on {made} with torch {torch} and transformers {transformers}.")
        said = sentences(said, made.format(**{name: about[name] for name in ("made", "torch", "transformers")}))
    if shown.has("silenced"):
        costs = _("Costs are means over the first {n} of these texts.").format(n=shown.costs_on)
        said = sentences(said, costs)
    return said


def _said_of_map(shown: ShownSurvey, by: str) -> str:
    measure, places = shown.survey.measures[by], shown.survey.places
    if not np.isfinite(measure.mean).any():
        return _("No sentence here has a place for it: repeat a word to measure it.")
    best = int(np.nanargmax(measure.mean))
    layer, head = places[best]
    values = {
        "layer": layer,
        "head": head,
        "mean": head_controls.with_error(measure.mean[best], measure.stderr[best], 3 if by in head_survey.COSTS else 2),
        "evidence": _evidence(int(measure.counts[best])),
        "stability": measure.stability[best],
        "all": len(places),
    }
    if by in head_survey.COSTS:
        said = _("Most in **layer {layer}, head {head}: {mean}** ({evidence}). {below} of {all} heads are below 0.")
        return said.format(**values, below=int((measure.mean < 0).sum()))
    half = int((np.nan_to_num(measure.mean) >= head_kinds.NAMED_FROM).sum())
    said = _(
        "Most in **layer {layer}, head {head}: {mean}** ({evidence}; among the first ten heads in {stability:.0%} of "
        "these texts). {half} of {all} heads have at least half of their weight there."
    )
    return said.format(**values, half=half)


def _evidence(sentences: int) -> str:
    """What the number behind ± is; a single sentence gives none."""
    if sentences < 2:
        return _("from a single sentence")
    return _("standard error over {n} sentences").format(n=sentences)


def _said_of_plane(shown: ShownSurvey, by: str, against: str) -> str:
    x, y = shown.survey.measures[by].mean, shown.survey.measures[against].mean
    rank = head_kinds.rank_correlation(x, y)
    if math.isnan(rank):
        return _("One point a head.")
    most = np.argsort(-np.nan_to_num(y, nan=-np.inf))[:3]
    names = listed(choices.name_of(shown.survey.places[int(n)]) for n in most)
    said = _(
        "One point a head, as layer.head: highest **{names}**. The ranks of both measures correlate by {rank:.2f}."
    )
    return said.format(names=names, rank=rank)


# The heads that have a name, with the evidence for it; a row chooses its head.
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
            pick(shown, columns[rows[0]])

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
        _("weight"): head_controls.with_error(each.mean, each.stderr, 2),
        _("in the first ten"): f"{each.stability:.0%}",
        _("sentences"): each.sentences,
    }
    if shown.has("silenced"):
        cost = shown.survey.measures["silenced"]
        mean, error = cost.mean[each.column], cost.stderr[each.column]
        row[_("cost, nats")] = head_controls.with_error(mean, error, 3, signed=True)
    return row


def _counts(shown: ShownSurvey) -> str:
    kinds = [kind for kind in head_kinds.KINDS if kind in shown.survey.measures]
    named = [(kind, head_kinds.count_of(shown.survey, kind)) for kind in kinds]
    return listed(f"{spoken(head_kinds.KINDS[kind][0])} {count}" for kind, count in named if count)
