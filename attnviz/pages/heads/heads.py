"""Which head does what: all heads of a model over many sentences."""

import streamlit as st

from attnviz.app import live_run, page_parts, show, widgets
from attnviz.app.links import link_state
from attnviz.app.links.choices import head_name
from attnviz.app.panel import show_problems
from attnviz.base.message import Message
from attnviz.base.words import _
from attnviz.pages.heads import choices
from attnviz.pages.heads.maths import head_survey
from attnviz.pages.heads.page_entry import PAGE
from attnviz.pages.heads.panels import head_surveys, map


def page() -> None:
    """Draw the page."""
    page_parts.draw_heading(PAGE)
    with show_problems():
        _draw()


def _draw() -> None:
    """Everything below the heading."""
    place = page_parts.main_picture()
    asked = head_surveys.draw_form()
    if asked is None:
        return
    with st.container():
        first = head_surveys.get_scan("first", asked.model, asked.names[asked.model], asked.config)
    of_second = asked.other is not None and link_state.value(choices.OF) == "second"
    column = map.strongest_head(first.survey, asked.by) if of_second else _chosen(first, asked.by)
    left, right = place.columns([1.3, 1], gap="medium")
    with left:
        map.heads_map(first, asked.by, None if of_second else column, "hd_map")
    second = None
    with right:
        if asked.other is None:
            map.draw_plane(first, asked.by, column, "hd_plane")
        else:
            with show_problems():
                second = head_surveys.get_scan("second", asked.other, asked.names[asked.other], asked.config)
                at = link_state.value(choices.AT)
                picked = second.survey.column(*at) if of_second and at is not None else None
                map.heads_map(second, asked.by, picked, "hd_map_beside")
    st.caption(map.source_sentence(first))
    shown = first
    if second is not None:
        _compared(first, second, asked.by)
        if of_second:
            shown, column = second, _chosen(second, asked.by)
        with st.columns([1.3, 1], gap="medium")[0]:
            map.draw_plane(shown, asked.by, column, "hd_plane")
    _details(shown, asked, column)
    for live in first.live + (() if second is None else second.live):  # last on the page: more is to come
        live_run.rerun_if_running(live)


def _details(shown: head_surveys.DisplayedScan, asked: head_surveys.HeadsRequest, column: int) -> None:
    with st.container(key="hd-details"):
        names, one = st.columns([1, 1.3], gap="medium")
    with names:
        map.panel(shown, "hd_kinds")
        map.draw_evidence(shown, column)
        show.program(
            head_survey.program(
                shown.model, shown.config, asked.by, shown.costs_on or link_state.value(choices.COSTS_ON)
            ),
            "heads",
            _("The same in a notebook"),
            _("Paste this code into a notebook: it finds these heads again."),
        )
    with one:
        map.draw_examples(shown, asked.by, column)


def _compared(first: head_surveys.DisplayedScan, second: head_surveys.DisplayedScan, by: str) -> None:
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


def _chosen(shown: head_surveys.DisplayedScan, by: str) -> int:
    """The head on show: the one that was asked for, or the strongest."""
    asked = link_state.value(choices.AT)
    usual = map.strongest_head(shown.survey, by)
    if asked is None:
        return usual
    column = shown.survey.column(*asked)
    if column is None:
        instead = {"asked": head_name(asked), "shown": head_name(shown.survey.places[usual])}
        widgets.show_substitute(
            choices.AT,
            Message("{model} has no head {asked}; {shown}, the strongest, is shown.", {"model": shown.name, **instead}),
        )
    return usual if column is None else column


if __name__ == "__main__":  # Streamlit runs this file
    page()
