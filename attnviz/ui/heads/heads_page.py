"""The page's parts in their order: what is known at once first, what a model must run for last."""

from __future__ import annotations

import streamlit as st

from attnviz.experiments.heads import head_snippets, head_survey
from attnviz.ui.heads import example_panel, head_controls, head_surveys, kinds_panel, map_panel
from attnviz.ui.heads import heads_choices as choices
from attnviz.ui.heads.head_controls import HeadsRequest
from attnviz.ui.heads.head_surveys import ShownSurvey
from attnviz.ui.shared import guard, link_state, snippet, term_popover
from attnviz.words import _


def draw() -> None:
    """Everything below the heading."""
    asked = head_controls.ask()
    if asked is None:
        return
    bars = st.container()
    with bars:
        first = head_surveys.obtain("first", asked.model, asked.names[asked.model], asked.config)
    of_second = asked.other is not None and link_state.value(choices.OF) == "second"
    column = example_panel.strongest(first.survey, asked.by) if of_second else _chosen(first, asked.by)
    left, right = st.columns([1.3, 1], gap="medium")
    with left:
        map_panel.heads_map(first, asked.by, None if of_second else column, "hd_map")
    second = None
    with right:
        if asked.other is None:
            map_panel.plane(first, asked.by, column, "hd_plane")
        else:
            with guard():
                second = _beside(asked, asked.other, of_second)
    st.caption(map_panel.said_of_source(first))
    shown = first
    if second is not None:
        _compared(first, second, asked.by)
        if of_second:
            shown, column = second, _chosen(second, asked.by)
        with st.columns([1.3, 1], gap="medium")[0]:
            map_panel.plane(shown, asked.by, column, "hd_plane")
    _details(shown, asked, column)
    head_surveys.go_on(first, *([second] if second is not None else []))


def _details(shown: ShownSurvey, asked: HeadsRequest, column: int) -> None:
    names, one = st.columns([1, 1.3], gap="medium")
    with names:
        kinds_panel.panel(shown, "hd_kinds")
        example_panel.evidence(shown, column)
        term_popover.terms("head", "induction", "sink", "nat")
        on = shown.costs_on or link_state.value(choices.COSTS_ON)
        snippet(
            head_snippets.program(shown.model, shown.config, asked.by, on),
            "heads",
            _("The same in a notebook"),
            _("Paste this code into a notebook: it finds these heads again."),
        )
    with one:
        example_panel.examples(shown, asked.by, column)


def _beside(asked: HeadsRequest, other: str, of_second: bool) -> ShownSurvey:
    shown = head_surveys.obtain("second", other, asked.names[other], asked.config)
    at = link_state.value(choices.AT)
    column = shown.survey.column(*at) if of_second and at is not None else None
    map_panel.heads_map(shown, asked.by, column, "hd_map_beside")
    return shown


def _compared(first: ShownSurvey, second: ShownSurvey, by: str) -> None:
    """Both models' strongest heads, in one sentence."""
    if by in head_survey.COSTS or not (first.has(by) and second.has(by)):
        return
    shares = [float((shown.survey.measures[by].mean >= 0.5).mean()) for shown in (first, second)]
    st.markdown(
        _(
            "**{one:.0%}** of the heads of {a} and **{two:.0%}** of {b} have at least half of their weight on this "
            "pattern."
        ).format(one=shares[0], two=shares[1], a=first.name, b=second.name)
    )


def _chosen(shown: ShownSurvey, by: str) -> int:
    """The head on show: the one that was asked for, or the strongest."""
    asked = link_state.value(choices.AT)
    usual = example_panel.strongest(shown.survey, by)
    if asked is None:
        return usual
    column = shown.survey.column(*asked)
    if column is None:
        instead = choices.name_of(shown.survey.places[usual])
        st.caption(
            _("{model} has no head {asked}; {shown}, the strongest, is shown.").format(
                model=shown.name, asked=choices.name_of(asked), shown=instead
            )
        )
        return usual
    return column
