"""The map of all heads, the scatter plot of two measures, and the details of the chosen head."""

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
    format_with_error,
    measure_names,
    offer_costs,
    offered_measures,
)

NAMED_POINTS = 4


def draw_heads_map(scan: DisplayedScan, by: str, chosen: int | None, key: str) -> None:
    """Draw the map of all heads of one model, coloured by one measure."""
    if not scan.has_measure(by):
        st.markdown(f"**{escape_markdown(scan.name)}**")
        if scan.decoder:
            st.info(_("This has not been measured on these sentences yet."))
            offer_costs(scan)
        else:
            st.info(
                _("{name} does not predict the next token: it has no such cost.").format(
                    name=escape_markdown(scan.name)
                )
            )
        return
    measure, caption = scan.result.measures[by], _map_sentence(scan, by)
    show.figure(
        show.chart_of(
            figures.pickable_map,
            measure.mean,
            scan.result.places,
            measure.stderr,
            title=_("{name}: {measure}").format(name=scan.name, measure=measure_names()[by]),
            signed=by in head_survey.COSTS,
            chosen=chosen,
        ),
        name=f"heads-{by}-{scan.model}",
        key=key,
        table=lambda: measures_table(scan.result),
        sentence=caption,
        caption=source_sentence(scan),
        on_pick=lambda column: choose_head(scan, column),
    )


def draw_plane(scan: DisplayedScan, by: str, chosen: int | None, key: str) -> None:
    """Draw the scatter plot of heads: the measure of the map by a second one."""
    names = measure_names()
    against = select_one(
        choices.SECOND_MEASURE,
        _("against"),
        {measure: name for measure, name in offered_measures(scan.decoder).items() if measure != by},
        style="select",
    )
    if not scan.has_measure(by) or not scan.has_measure(against):
        st.info(_("This has not been measured on these sentences yet."))
        offer_costs(scan)
        return
    x, y = scan.result.measures[by].mean, scan.result.measures[against].mean
    show.figure(
        show.chart_of(
            figures.scatter_heads,
            x,
            y,
            scan.result.places,
            title=_("{measure} against {other}").format(measure=names[by], other=names[against]),
            x_title=names[by],
            y_title=names[against],
            chosen=chosen,
            named=[int(n) for n in np.argsort(-np.nan_to_num(np.abs(y), nan=-1))[:NAMED_POINTS]],
        ),
        name=f"heads-{by}-against-{against}-{scan.model}",
        key=key,
        table=lambda: measures_table(scan.result),
        sentence=_plane_sentence(scan.result, by, against, current_language()),
        on_pick=lambda column: choose_head(scan, column),
    )


def choose_head(scan: DisplayedScan, column: int) -> None:
    """Select a head by its index. A callback."""
    if 0 <= column < len(scan.result.places):
        link_state.set_many({
            choices.MODEL_OF_HEAD: scan.section,
            choices.CHOSEN_HEAD: scan.result.places[column],
            choices.EXAMPLE: choices.EXAMPLE.default,
        })  # fmt: skip


def measures_table(scan: head_survey.HeadScan) -> dict[str, list[object]]:
    """Table of every measure of every head."""
    layers, heads = zip(*scan.places, strict=True)
    columns: dict[str, list[object]] = {"layer": list(layers), "head": list(heads)}
    for name, measure in scan.measures.items():
        columns |= {
            f"{name} {statistic}": [
                "" if math.isnan(value) else float(f"{Rounded(value):.5g}".replace(",", ""))
                for value in getattr(measure, statistic)
            ]
            for statistic in ("mean", "stderr", "stability")
        }
        columns[f"{name} sentences"] = measure.counts.tolist()
    return columns


def source_sentence(scan: DisplayedScan) -> str:
    """Sentence about the texts and how they were read."""
    about, config = scan.result.about, scan.config
    n = len(scan.result.sentences)
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
            scan.n_cost_sentences,
        ).format(n=scan.n_cost_sentences)
        if scan.has_measure("silenced")
        else "",
    )


def _map_sentence(scan: DisplayedScan, by: str) -> str:
    measure, places = scan.result.measures[by], scan.result.places
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
        mean=format_with_error(measure.mean[best], measure.stderr[best], 3 if is_cost else 2),
        evidence=_("from a single sentence") if count < 2 else _("standard error over {n} sentences").format(n=count),
        stability=measure.stability[best],
        all=len(places),
        below=int((measure.mean < 0).sum()),
        half=head_survey.count_heads(scan.result, by),
    )


@lru_cache(maxsize=32)
def _plane_sentence(scan: head_survey.HeadScan, by: str, against: str, _language: str) -> str:
    y = scan.measures[against].mean
    rank = head_survey.rank_correlation(scan.measures[by].mean, y)
    if math.isnan(rank):
        return _("Each point is a head.")
    most = np.argsort(-np.nan_to_num(y, nan=-np.inf))[:3]
    return _(
        "Each point is a head, called layer.head; highest are **{names}**. The two rankings correlate at {rank:.2f}."
    ).format(names=join_list(head_name(scan.places[int(n)]) for n in most), rank=rank)


# The heads that have a name, with the evidence for it; a row chooses its head.
ROW = 35  #: pixels of a table's row


def panel(scan: DisplayedScan, key: str) -> None:
    """Draw the table of named heads; a row selects its head."""
    heads, table = _named_heads_table(scan.result, current_language())
    st.markdown(_("**Heads with a name**"))
    if not heads:
        st.caption(_("No head gives half of its weight to one of these patterns, on average over the sentences."))
        return

    def choose_row() -> None:
        row = count(last_sent(int, key, "selection", "rows", 0), len(heads))
        if row is not None:
            choose_head(scan, heads[row][1])

    st.dataframe(
        table,
        hide_index=True,
        key=key,
        on_select=choose_row,
        selection_mode="single-row",
        height=ROW * (min(len(heads), 11) + 1) + 3,
    )
    kinds = [(kind, name) for kind, (name, _does) in head_survey.KINDS.items() if scan.has_measure(kind)]
    counts = [(name, head_survey.count_heads(scan.result, kind)) for kind, name in kinds]
    st.caption(
        _(
            "A head is named after a pattern that has half of its weight, averaged over the rows that the pattern "
            "fits: {counts}. At most five of a kind are listed; a row shows its head."
        ).format(counts=join_list(f"{translate_markdown(name)} {count}" for name, count in counts if count))
    )


@lru_cache(maxsize=8)
def _named_heads_table(scan: head_survey.HeadScan, _language: str) -> tuple[list[tuple[str, int]], Any]:
    """Named heads as (kind, index), and their Arrow table, cached for all visitors."""
    heads = head_survey.strongest_by_kind(scan)
    measured = [(scan.measures[kind], column) for kind, column in heads]
    table: dict[str, list[Any]] = {
        _("called"): [translate_markdown(head_survey.KINDS[kind][0]) for kind, _column in heads],
        _("head"): [head_name(scan.places[column]) for _kind, column in heads],
        _("weight"): [
            format_with_error(measure.mean[column], measure.stderr[column], 2) for measure, column in measured
        ],
        _("in the first ten"): [f"{Rounded(measure.stability[column]):.0%}" for measure, column in measured],
    }
    if "silenced" in scan.measures:
        cost = scan.measures["silenced"]
        table[_("cost, nats")] = [
            format_with_error(cost.mean[column], cost.stderr[column], 3, signed=True) for _kind, column in heads
        ]
    return heads, show.to_arrow(table)


# One head: what it is called, every measure of it, and the sentences in which the chosen measure is largest.
def draw_evidence(scan: DisplayedScan, column: int) -> None:
    """Draw the names of the head, and its measures."""
    layer, head = scan.result.places[column]
    called = join_list(
        f"{translate_markdown(head_survey.KINDS[kind][0])} ({Rounded(mean):.2f})"
        for kind, mean in head_survey.kinds_of_head(scan.result, column).items()
    )
    st.markdown(
        _("**{model}, layer {layer}, head {head}**: {called}").format(
            model=escape_markdown(scan.name), layer=layer, head=head, called=called or _("no name fits")
        )
    )
    table, rows = _head_measures_table(scan.result, column, current_language())
    st.dataframe(table, hide_index=True, key="hd_evidence", height=35 * (rows + 1) + 3)


@lru_cache(maxsize=64)
def _head_measures_table(scan: head_survey.HeadScan, column: int, _language: str) -> tuple[Any, int]:
    """Arrow table of all measures of a head, cached for all visitors, and its number of rows."""
    names = measure_names()
    rows = [
        {
            _("measure"): names[name],
            _("mean"): f"{Rounded(measure.mean[column]):.3f}",
            _("±"): "" if math.isnan(measure.stderr[column]) else f"{Rounded(measure.stderr[column]):.3f}",
            _("in the first ten"): f"{Rounded(measure.stability[column]):.0%}",
            _("sentences"): int(measure.counts[column]),
        }
        for name, measure in scan.measures.items()
        if not math.isnan(measure.mean[column])
    ]
    return show.to_arrow(show.to_columns(rows)), len(rows)


@fragment
def draw_examples(scan: DisplayedScan, by: str, column: int) -> None:
    """Draw the sentences with the largest measure, one of them with its attention."""
    measure = scan.result.measures.get(by)
    best = [] if measure is None else [int(n) for n in measure.best[column] if n >= 0]
    if measure is None or not best:
        st.caption(_("No sentence here shows it."))
        return
    st.markdown(_("**Sentences where it is largest**: {measure}").format(measure=measure_names()[by]))
    number = _select_example(
        {str(n): f"{n}: {Rounded(measure.best_scores[column, n - 1]):.2f}" for n in range(1, len(best) + 1)}
    )
    text = scan.result.sentences[best[number - 1]]
    st.markdown(f"> {escape_markdown(text)}")
    books = batches.books() if scan.config.text == "books" else ()
    for book in (novel for novel in books if any(passage.startswith(text) for passage in novel.passages)):
        st.caption(
            _("{author}, {title} ({year}), in the public domain.").format(
                author=escape_markdown(book.author), title=escape_markdown(book.title), year=book.year
            )
        )
    layer, head = scan.result.places[column]
    if st.button(
        _("Open layer {layer}, head {head} on this sentence in the explorer").format(layer=layer, head=head),
        icon=":material/arrow_forward:",
        key="hd_explore",
        type="primary",
    ):
        page_parts.open_explorer(scan.model, text, (layer, head))
    with show_problems():
        _draw_example(scan, text, layer, head)


def strongest_head(scan: head_survey.HeadScan, by: str) -> int:
    """Index of the head with the largest measure; by the first measure if this one is missing."""
    measure = scan.measures.get(by) or next(iter(scan.measures.values()))
    return int(np.nan_to_num(measure.mean, nan=-np.inf).argmax())


def _select_example(options: dict[str, str]) -> int:
    """Draw the choice of an example; its number, from 1."""
    example = min(link_state.value(choices.EXAMPLE), len(options))
    picked = st.segmented_control(
        _("Example"),
        list(options),
        format_func=options.__getitem__,
        required=True,
        label_visibility="collapsed",
        **widget_values.bind_widget(
            "hd_example_pick", str(example), lambda number: link_state.set_and_push(choices.EXAMPLE, int(number or 1))
        ),
    )
    return int(picked or example)


def _draw_example(scan: DisplayedScan, text: str, layer: int, head: int) -> None:
    run = model_cache.get_run(Request(scan.model, text))
    head_drawing.draw(run, (layer, head), ("hd_example_head", "hd_example_out"), "hd_example")
