"""The map of all heads and the plane of two measures, whose points choose a head; and all about the chosen one."""

import math
from functools import lru_cache
from typing import Any

import numpy as np
import streamlit as st

from attnviz.analysis.heads import batches
from attnviz.analysis.model_run import Request
from attnviz.app import head_drawing, page_parts, show, widget_values
from attnviz.app.cache import model_cache
from attnviz.app.links import link_state
from attnviz.app.links.choices import head_name
from attnviz.app.panel import fragment, show_problems
from attnviz.app.text import escape_markdown, translate_markdown
from attnviz.app.widgets import select_one
from attnviz.base.largest import find_largest
from attnviz.base.rounding import Rounded
from attnviz.base.words import _, current_language, join_list, join_sentences, ngettext
from attnviz.canvas.shared.component import count, last_sent
from attnviz.pages.heads import choices, figures
from attnviz.pages.heads.maths import head_survey
from attnviz.pages.heads.panels.head_surveys import (
    DisplayedScan,
    measure_names,
    offer_costs,
    offered_measures,
    with_error,
)

NAMED_POINTS = 4


def heads_map(shown: DisplayedScan, by: str, chosen: int | None, key: str) -> None:
    """Every head of one model, coloured by one measure."""
    if not shown.has(by):
        st.markdown(f"**{escape_markdown(shown.name)}**")
        if shown.decoder:
            st.info(_("This has not been measured on these sentences yet."))
            offer_costs(shown)
        else:
            st.info(
                _("{name} does not predict the next token: it has no such cost.").format(
                    name=escape_markdown(shown.name)
                )
            )
        return
    measure, words = shown.survey.measures[by], _about_map(shown, by)
    show.figure(
        show.chart_of(
            figures.pickable_map,
            measure.mean,
            shown.survey.places,
            measure.stderr,
            title=_("{name}: {measure}").format(name=shown.name, measure=measure_names()[by]),
            signed=by in head_survey.COSTS,
            chosen=chosen,
        ),
        name=f"heads-{by}-{shown.model}",
        key=key,
        table=lambda: measures_table(shown.survey),
        sentence=words,
        caption=source_sentence(shown),
        on_pick=lambda column: pick(shown, column),
    )


def draw_plane(shown: DisplayedScan, by: str, chosen: int | None, key: str) -> None:
    """One point a head: the measure of the map across, another one up."""
    words = measure_names()
    against = select_one(
        choices.AGAINST,
        _("against"),
        {measure: name for measure, name in offered_measures(shown.decoder).items() if measure != by},
        style="select",
    )
    if not shown.has(by) or not shown.has(against):
        st.info(_("This has not been measured on these sentences yet."))
        offer_costs(shown)
        return
    x, y = shown.survey.measures[by].mean, shown.survey.measures[against].mean
    show.figure(
        show.chart_of(
            figures.scatter_heads,
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
        table=lambda: measures_table(shown.survey),
        sentence=_about_plane(shown.survey, by, against, current_language()),
        on_pick=lambda column: pick(shown, column),
    )


def pick(shown: DisplayedScan, column: int) -> None:
    """Choose a head. A callback."""
    if 0 <= column < len(shown.survey.places):
        link_state.set_many({
            choices.OF: shown.section,
            choices.AT: shown.survey.places[column],
            choices.EXAMPLE: choices.EXAMPLE.default,
        })  # fmt: skip


def measures_table(survey: head_survey.HeadScan) -> dict[str, list[object]]:
    """Every measure of every head."""
    layers, heads = zip(*survey.places, strict=True)
    columns: dict[str, list[object]] = {"layer": list(layers), "head": list(heads)}
    for name, measure in survey.measures.items():
        columns |= {
            f"{name} {each}": [
                "" if math.isnan(value) else float(f"{Rounded(value):.5g}".replace(",", ""))
                for value in getattr(measure, each)
            ]
            for each in ("mean", "stderr", "stability")
        }
        columns[f"{name} sentences"] = measure.counts.tolist()
    return columns


def source_sentence(shown: DisplayedScan) -> str:
    """Which sentences, and how they were read."""
    about, config = shown.survey.about, shown.config
    n = len(shown.survey.sentences)
    texts = {
        "books": _("{n} passages of eight novels of 1813 to 1897, each cut at {length} tokens."),
        "repeated": _("{n} texts of random words twice over, {length} tokens each, seed {seed}."),
        "own": ngettext(
            "{n} sentence of your own text, cut at {length} tokens.",
            "{n} sentences of your own text, each cut at {length} tokens.",
            n,
        ),
    }
    return join_sentences(
        texts[config.text].format(n=n, length=config.length, seed=config.seed),
        _("Computed beforehand on {made} with torch {torch} and transformers {transformers}.").format(**about)
        if about
        else "",
        ngettext(
            "Costs are those of the first {n} of these texts.",
            "Costs are means over the first {n} of these texts.",
            shown.costs_on,
        ).format(n=shown.costs_on)
        if shown.has("silenced")
        else "",
    )


def _about_map(shown: DisplayedScan, by: str) -> str:
    measure, places = shown.survey.measures[by], shown.survey.places
    if not np.isfinite(measure.mean).any():
        return _("No sentence here has a place to measure it: repeat a word.")
    most = find_largest(measure.mean)
    best = most.index
    layer, head = places[best]
    is_cost = by in head_survey.COSTS
    text = (
        _("All heads have **{mean}**.")
        if not most.alone and np.nanmin(measure.mean) == most.value
        else _("Most in **layer {layer}, head {head}: {mean}** ({evidence}). {below} of {all} heads are below 0.")
        if is_cost
        else _(
            "Most in **layer {layer}, head {head}: {mean}** ({evidence}; among the first ten heads in {stability:.0%} "
            "of these texts). {half} of {all} heads have at least half of their weight there."
        )
    )
    count = int(measure.counts[best])  # what the number behind ± is; a single sentence gives none
    return text.format(
        layer=layer,
        head=head,
        mean=with_error(measure.mean[best], measure.stderr[best], 3 if is_cost else 2),
        evidence=_("from a single sentence") if count < 2 else _("standard error over {n} sentences").format(n=count),
        stability=measure.stability[best],
        all=len(places),
        below=int((measure.mean < 0).sum()),
        half=head_survey.count_of(shown.survey, by),
    )


@lru_cache(maxsize=32)
def _about_plane(survey: head_survey.HeadScan, by: str, against: str, _language: str) -> str:
    y = survey.measures[against].mean
    rank = head_survey.rank_correlation(survey.measures[by].mean, y)
    if math.isnan(rank):
        return _("Each point is a head.")
    most = np.argsort(-np.nan_to_num(y, nan=-np.inf))[:3]
    return _(
        "Each point is a head, called layer.head; highest are **{names}**. The two rankings correlate at {rank:.2f}."
    ).format(names=join_list(head_name(survey.places[int(n)]) for n in most), rank=rank)


# The heads that have a name, with the evidence for it; a row chooses its head.
ROW = 35  #: pixels of a table's row


def panel(shown: DisplayedScan, key: str) -> None:
    """A table of named heads."""
    heads, table = _named(shown.survey, current_language())
    st.markdown(_("**Heads with a name**"))
    if not heads:
        st.caption(_("No head gives half of its weight to one of these patterns, on average over the sentences."))
        return

    def picked() -> None:
        row = count(last_sent(int, key, "selection", "rows", 0), len(heads))
        if row is not None:
            pick(shown, heads[row][1])

    st.dataframe(
        table,
        hide_index=True,
        key=key,
        on_select=picked,
        selection_mode="single-row",
        height=ROW * (min(len(heads), 11) + 1) + 3,
    )
    kinds = [(kind, name) for kind, (name, _does) in head_survey.KINDS.items() if shown.has(kind)]
    counts = [(name, head_survey.count_of(shown.survey, kind)) for kind, name in kinds]
    st.caption(
        _(
            "A head is named after a pattern that has half of its weight, averaged over the rows that the pattern "
            "fits: {counts}. At most five of a kind are listed; a row shows its head."
        ).format(counts=join_list(f"{translate_markdown(name)} {count}" for name, count in counts if count))
    )


@lru_cache(maxsize=8)
def _named(survey: head_survey.HeadScan, _language: str) -> tuple[list[tuple[str, int]], Any]:
    """The heads that have a name, and their table as it is sent, made once for all visitors."""
    heads = head_survey.strongest_by_kind(survey)
    measured = [(survey.measures[kind], column) for kind, column in heads]
    table: dict[str, list[Any]] = {
        _("called"): [translate_markdown(head_survey.KINDS[kind][0]) for kind, _column in heads],
        _("head"): [head_name(survey.places[column]) for _kind, column in heads],
        _("weight"): [with_error(measure.mean[column], measure.stderr[column], 2) for measure, column in measured],
        _("in the first ten"): [f"{Rounded(measure.stability[column]):.0%}" for measure, column in measured],
    }
    if "silenced" in survey.measures:
        cost = survey.measures["silenced"]
        table[_("cost, nats")] = [
            with_error(cost.mean[column], cost.stderr[column], 3, signed=True) for _kind, column in heads
        ]
    return heads, show.to_arrow(table)


# One head: what it is called, every measure of it, and the sentences in which the chosen measure is largest.
def draw_evidence(shown: DisplayedScan, column: int) -> None:
    """What the head is called, and all that was measured of it."""
    layer, head = shown.survey.places[column]
    called = join_list(
        f"{translate_markdown(head_survey.KINDS[kind][0])} ({Rounded(mean):.2f})"
        for kind, mean in head_survey.kinds_of_head(shown.survey, column).items()
    )
    st.markdown(
        _("**{model}, layer {layer}, head {head}**: {called}").format(
            model=escape_markdown(shown.name), layer=layer, head=head, called=called or _("no name fits")
        )
    )
    table, rows = _measured(shown.survey, column, current_language())
    st.dataframe(table, hide_index=True, key="hd_evidence", height=35 * (rows + 1) + 3)


@lru_cache(maxsize=64)
def _measured(survey: head_survey.HeadScan, column: int, _language: str) -> tuple[Any, int]:
    """Every measure of a head as a table that is sent, made once for all visitors, and its number of rows."""
    words = measure_names()
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
    return show.to_arrow(show.to_columns(rows)), len(rows)


@fragment
def draw_examples(shown: DisplayedScan, by: str, column: int) -> None:
    """The sentences in which the head shows the measure most, one of them drawn as the explorer draws it."""
    measure = shown.survey.measures.get(by)
    best = [] if measure is None else [int(n) for n in measure.best[column] if n >= 0]
    if measure is None or not best:
        st.caption(_("No sentence here shows it."))
        return
    st.markdown(_("**Sentences where it is largest**: {measure}").format(measure=measure_names()[by]))
    number = _picked(
        {str(n): f"{n}: {Rounded(measure.best_scores[column, n - 1]):.2f}" for n in range(1, len(best) + 1)}
    )
    text = shown.survey.sentences[best[number - 1]]
    st.markdown(f"> {escape_markdown(text)}")
    books = batches.books() if shown.config.text == "books" else ()
    for book in (each for each in books if any(passage.startswith(text) for passage in each.passages)):
        st.caption(
            _("{author}, {title} ({year}), in the public domain.").format(
                author=escape_markdown(book.author), title=escape_markdown(book.title), year=book.year
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
    with show_problems():
        _picture(shown, text, layer, head)


def strongest_head(survey: head_survey.HeadScan, by: str) -> int:
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
        **widget_values.bind_widget(
            "hd_example_pick", str(shown), lambda number: link_state.set_and_push(choices.EXAMPLE, int(number or 1))
        ),
    )
    return int(picked or shown)


def _picture(shown: DisplayedScan, text: str, layer: int, head: int) -> None:
    run = model_cache.get_run(Request(shown.model, text))
    head_drawing.draw(run, (layer, head), ("hd_example_head", "hd_example_out"), "hd_example")
