"""The page Heads: what every head of a model does over many sentences."""

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
        _draw_sections()


def _draw_sections() -> None:
    """Draw everything below the heading."""
    picture_area = page_parts.main_picture()
    request = head_surveys.draw_form()
    if request is None:
        return
    with st.container():
        first = head_surveys.get_scan("first", request.model, request.names[request.model], request.config)
    of_second = request.second_model is not None and link_state.value(choices.MODEL_OF_HEAD) == "second"
    column = map.strongest_head(first.result, request.measure) if of_second else _chosen_column(first, request.measure)
    second = None
    with picture_area:
        map.draw_map(first, None if of_second else column, "hd_map")
        st.caption(map.source_sentence(first))
        head_surveys.offer_costs(first)
        if request.second_model is not None:
            with show_problems():
                second = head_surveys.get_scan(
                    "second", request.second_model, request.names[request.second_model], request.config
                )
                head_key = link_state.value(choices.CHOSEN_HEAD)
                picked = second.result.column(*head_key) if of_second and head_key is not None else None
                map.draw_map(second, picked, "hd_map_beside")
    displayed_scan = first
    if second is not None:
        _draw_comparison(first, second, request.measure)
        if of_second:
            displayed_scan, column = second, _chosen_column(second, request.measure)
    map.draw_evidence(displayed_scan, request.measure, column)
    map.draw_examples(displayed_scan, request.measure, column)
    show.program(
        head_survey.program(
            displayed_scan.model,
            displayed_scan.config,
            request.measure,
            displayed_scan.n_cost_sentences or link_state.value(choices.COSTS_ON),
        ),
        "heads",
        _("The same in a notebook"),
        _("Paste this code into a notebook: it finds these heads again."),
    )
    for live in first.live + (() if second is None else second.live):  # last on the page: more is to come
        live_run.rerun_if_running(live)


def _draw_comparison(first: head_surveys.DisplayedScan, second: head_surveys.DisplayedScan, by: str) -> None:
    """Write one sentence that compares both models on a pattern."""
    if by in head_survey.COSTS or not (first.has_measure(by) and second.has_measure(by)):
        return
    shares = [float((scan.result.measures[by].mean >= 0.5).mean()) for scan in (first, second)]
    st.markdown(
        _(
            "**{one:.0%}** of the heads of {a} and **{two:.0%}** of {b} have at least half of their weight on this "
            "pattern."
        ).format(one=shares[0], two=shares[1], a=first.name, b=second.name)
    )


def _chosen_column(scan: head_surveys.DisplayedScan, by: str) -> int:
    """Index of the selected head: the one in the link, or the strongest."""
    head_key = link_state.value(choices.CHOSEN_HEAD)
    strongest = map.strongest_head(scan.result, by)
    if head_key is None:
        return strongest
    column = scan.result.column(*head_key)
    if column is None:
        names = {"asked": head_name(head_key), "shown": head_name(scan.result.places[strongest])}
        widgets.show_substitute(
            choices.CHOSEN_HEAD,
            Message("{model} has no head {asked}; {shown}, the strongest, is shown.", {"model": scan.name, **names}),
        )
    return strongest if column is None else column


if __name__ == "__main__":  # Streamlit runs this file
    page()
