"""One head: what it is called, every measure of it, and the sentences in which the chosen measure is largest."""

import math
from functools import lru_cache
from typing import Any

import numpy as np
import streamlit as st

from attnviz.app import head_drawing, page_parts, show, widget_values
from attnviz.app.cache import model_cache
from attnviz.app.links import link_state
from attnviz.app.panel import fragment, guard
from attnviz.app.text import plain, spoken
from attnviz.base.head_record import HeadView
from attnviz.base.rounding import Rounded
from attnviz.base.words import _, ended, listed, sentences, tongue
from attnviz.pages.heads import choices
from attnviz.pages.heads.maths import head_survey
from attnviz.pages.heads.panels.head_surveys import ShownSurvey, measures
from attnviz.runs.heads import batches
from attnviz.runs.model_run import Request


def evidence(shown: ShownSurvey, column: int) -> None:
    """What the head is called, and all that was measured of it."""
    layer, head = shown.survey.places[column]
    called = listed(
        f"{spoken(head_survey.KINDS[kind][0])} ({Rounded(mean):.2f})"
        for kind, mean in head_survey.names_of(shown.survey, column).items()
    )
    st.markdown(
        _("**{model}, layer {layer}, head {head}**: {called}").format(
            model=plain(shown.name), layer=layer, head=head, called=called or _("no name fits")
        )
    )
    table, rows = _measured(shown.survey, column, tongue())
    st.dataframe(table, hide_index=True, key="hd_evidence", height=35 * (rows + 1) + 3)


@lru_cache(maxsize=64)
def _measured(survey: head_survey.Survey, column: int, _language: str) -> tuple[Any, int]:
    """Every measure of a head as a table that is sent, made once for all visitors, and its number of rows."""
    words = measures()
    rows = [
        {
            _("measure"): words[name],
            _("mean"): f"{Rounded(measure.mean[column]):.3f}",
            _("±"): "" if math.isnan(measure.stderr[column]) else f"{Rounded(measure.stderr[column]):.3f}",
            _("in the first ten"): f"{Rounded(measure.stability[column]):.0%}",
            _("sentences"): int(measure.counts[column]),
        }
        for name, measure in survey.measures.items()
        if not math.isnan(measure.mean[column])
    ]
    return show.as_arrow(show.columns(rows)), len(rows)


@fragment
def examples(shown: ShownSurvey, by: str, column: int) -> None:
    """The sentences in which the head shows the measure most, one of them drawn as the explorer draws it."""
    measure = shown.survey.measures.get(by)
    best = [] if measure is None else [int(n) for n in measure.best[column] if n >= 0]
    if measure is None or not best:
        st.caption(_("No sentence here shows it."))
        return
    st.markdown(_("**Sentences where it is largest**: {measure}").format(measure=measures()[by]))
    number = _picked(
        {str(n): f"{n}: {Rounded(measure.best_scores[column, n - 1]):.2f}" for n in range(1, len(best) + 1)}
    )
    text = shown.survey.sentences[best[number - 1]]
    st.markdown(f"> {plain(text)}")
    books = batches.books() if shown.config.text == "books" else ()
    for book in (each for each in books if any(passage.startswith(text) for passage in each.passages)):
        st.caption(
            _("{author}, {title} ({year}), in the public domain.").format(
                author=plain(book.author), title=plain(book.title), year=book.year
            )
        )
    layer, head = shown.survey.places[column]
    if st.button(
        _("Open layer {layer}, head {head} on this sentence in the explorer").format(layer=layer, head=head),
        icon=":material/arrow_forward:",
        key="hd_explore",
        type="primary",
    ):
        page_parts.open_explorer(shown.model, text, (layer, head))
    with guard():
        _picture(shown, text, layer, head)


def strongest(survey: head_survey.Survey, by: str) -> int:
    """The head that shows a measure most; the first one where none was measured."""
    measure = survey.measures.get(by) or next(iter(survey.measures.values()))
    return int(np.nan_to_num(measure.mean, nan=-np.inf).argmax())


def _picked(options: dict[str, str]) -> int:
    """Which of the examples is on show."""
    shown = min(link_state.value(choices.EXAMPLE), len(options))
    picked = st.segmented_control(
        _("Example"),
        list(options),
        format_func=options.__getitem__,
        required=True,
        label_visibility="collapsed",
        **widget_values.held(
            "hd_example_pick", str(shown), lambda number: link_state.put(choices.EXAMPLE, int(number or 1))
        ),
    )
    return int(picked or shown)


def _picture(shown: ShownSurvey, text: str, layer: int, head: int) -> None:
    run = model_cache.model_run(Request(shown.model, text))
    matrix = head_drawing.unchanged(run, run.stacks[0], layer, head)
    title = head_drawing.whose(run.name, layer, head)
    files = {
        "name": f"head-{shown.model}-layer{layer}-head{head}",
        "title": head_drawing.looks_at(matrix, matrix.telling_row, title),
        "caption": sentences(ended(title), text),
    }
    # beside a table there is room for one picture
    head_drawing.draw(matrix, HeadView(title, lines=False), ("hd_example_head", "hd_example_out"), "hd_example", files)
