"""Section 1: the table that everyone quotes, as curves over length, width or kernel that cross."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
import streamlit as st

from attnviz.app import show, term_popover
from attnviz.app.cache.kept_charts import chart_of
from attnviz.app.code_snippet import snippet
from attnviz.app.guarding import guard
from attnviz.app.widgets import number, one_of
from attnviz.base import units
from attnviz.base.words import _, listed, ngettext
from attnviz.pages.compare import choices, figures
from attnviz.pages.compare.figures import KindCurve
from attnviz.pages.compare.maths import compare_snippets, layer_costs
from attnviz.pages.compare.panels import compare_results
from attnviz.pages.compare.panels.compare_results import ORDERS, kind_names

BOX = 100  #: pixels of a number box


def panel() -> None:
    config = controls()
    with guard():
        result = compare_results.costs(config)
        _curves(result)
        _table(result)
        term_popover.terms("flop", "window", "linear_attention")
        snippet(compare_snippets.costs(config), "c-table", about=_about_program(config))


def _about_program(config: layer_costs.Config) -> str:
    """Which of the section's numbers its program prints."""
    if config.counting == "table":
        return _(
            "Paste this code into a notebook: it prints the operations of each layer at these sizes, and the lengths "
            "at which a recurrence and a convolution cost what attention costs."
        )
    return _(
        "Paste this code into a notebook: it prints what torch counts at these sizes for attention, a convolution and "
        "three recurrences, and the lengths at which an LSTM and a GRU cost what attention costs."
    )


def controls() -> layer_costs.Config:
    """Draw the sizes and what the curves run over."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        axes = {"n": "n", "d": "d", "k": "k"}
        axis = one_of(choices.AXIS, _("Curves over"), axes)
        ways = {"built": _("as built"), "table": _("as quoted")}
        counting = one_of(
            choices.COUNTING,
            _("Counted"),
            ways,
            help=_(
                "As quoted: the table of the paper, constants and projections left out. As built: what torch’s layers "
                "multiply and add, projections and gates included."
            ),
        )
        return layer_costs.Config(
            **sizes(), counting=cast(layer_costs.Counting, counting), axis=cast(layer_costs.Axis, axis)
        )


def sizes(names: Sequence[str] = ("n", "d", "k", "window", "heads")) -> dict[str, int]:
    """Draw a box for each size; the values by name."""
    labels = {
        "n": _("tokens n"),
        "d": _("width d"),
        "k": _("kernel k"),
        "window": _("window r"),
        "heads": _("heads"),
    }
    return {name: number(choices.SIZES[name], labels[name], step=1, width=BOX) for name in names}


def _curves(result: layer_costs.Result) -> None:
    config = result.config
    names = kind_names()
    axis = {"n": _("tokens n"), "d": _("width d"), "k": _("kernel k")}[config.axis]
    here = getattr(config, config.axis)
    one, two = st.columns([1.5, 1], gap="medium")
    with one:
        title = _("FLOPs of one layer") if config.counting == "built" else _("Operations of one layer")
        curves = [KindCurve(kind, names[kind], result.x, y) for kind, y in result.cost.items() if kind != "dilated"]
        fig = chart_of(
            figures.over,
            curves,
            title,
            axis,
            here=here,
            crossings=_crossing_points(result),
            unit=_(" operations"),
            height=390,
        )
        show.figure(
            fig, name=f"cost-over-{config.axis}", key="c-cost", table=_numbers(result), words=_said_of_cost(result)
        )
    with two:
        _steps_and_path(result, axis, here)


def _steps_and_path(result: layer_costs.Result, axis: str, here: float) -> None:
    names, config = kind_names(), result.config
    waiting = {"attention": names["attention"], "rnn": _("any recurrence")}
    fig = chart_of(
        figures.over,
        [KindCurve(kind, name, result.x, result.steps[kind]) for kind, name in waiting.items()],
        _("Steps that wait for each other"),
        axis,
        here=here,
        height=220,
    )
    steps = result.here["rnn"][1]
    show.figure(
        fig,
        name="sequential-steps",
        key="c-steps",
        table={axis: result.x, **{name: result.steps[kind] for kind, name in waiting.items()}},
        words=ngettext(
            "A recurrence waits **{n:,}** time, all others once.",
            "A recurrence waits **{n:,}** times, all others once.",
            steps,
        ).format(n=steps),
    )
    kinds = {"attention": names["attention"], "rnn": _("any recurrence"), "conv": names["conv"]}
    kinds |= {"dilated": names["dilated"], "window": names["window"]}
    fig = chart_of(
        figures.over,
        [KindCurve(kind, name, result.x, result.path[kind]) for kind, name in kinds.items()],
        _("Longest path, layers or steps"),
        axis,
        here=here,
        height=270,
    )
    said = _(
        "What a signal passes from the first token to the last: attention layers **1**, dilated convolutions "
        "**{dilated:,}**, windows of {r} **{window:,}**, convolutions of {k} **{conv:,}**, steps of a recurrence "
        "**{rnn:,}**."
    )
    paths = {kind: result.here[kind][2] for kind in kinds}
    show.figure(
        fig,
        name="path-length",
        key="c-path",
        table={axis: result.x, **{name: result.path[kind] for kind, name in kinds.items()}},
        words=said.format(**{k: v for k, v in paths.items() if k != "attention"}, r=config.window, k=config.k),
    )


def _crossing_points(result: layer_costs.Result) -> list[tuple[float, float, str]]:
    """Where attention's curve meets another, inside the picture."""
    points, names = [], kind_names()
    for each in result.crossings:
        if each.at is not None and result.x[0] <= each.at <= result.x[-1]:
            x = float(each.at)
            y = float(np.exp(np.interp(np.log(x), np.log(result.x), np.log(result.cost["attention"]))))
            said = _("{name} costs as much as attention at {axis} = {at:,.6g}")
            points.append((x, y, said.format(name=names[each.kind], axis=result.config.axis, at=x)))
    return points


def _said_of_cost(result: layer_costs.Result) -> str:
    config = result.config
    mine = result.here["attention"][0]
    kinds = [kind for kind in result.here if kind not in ("attention", "dilated")]
    dearest = max(kinds, key=lambda kind: result.here[kind][0])
    cheapest = min(kinds, key=lambda kind: result.here[kind][0])
    names = kind_names()
    said = _(
        "At n = {n:,}, d = {d:,} self-attention takes **{mine}**, {cheapest} {low} and {dearest} {high}. "
        "Layers that cost what attention costs: {crossings}; a ring marks each that lies in the picture."
    )
    met = [
        _("{name} at {axis} = {at:,.6g}").format(name=names[each.kind], axis=config.axis, at=float(each.at))
        for each in result.crossings
        if each.at is not None
    ]
    as_said = units.flop if config.counting == "built" else _operations
    return said.format(
        n=config.n,
        d=config.d,
        mine=as_said(mine),
        cheapest=names[cheapest],
        low=as_said(result.here[cheapest][0]),
        dearest=names[dearest],
        high=as_said(result.here[dearest][0]),
        crossings=listed(met) or _("nowhere here"),
    )


def _operations(count: float) -> str:
    return ngettext("{n} operation", "{n} operations", round(count)).format(n=units.many(round(count)))


def _numbers(result: layer_costs.Result) -> dict[str, np.ndarray]:
    """The curves by name, for the export."""
    return {result.config.axis: result.x, **result.cost}


def _table(result: layer_costs.Result) -> None:
    """The quoted table with this page's numbers, what torch counts, and each crossing in words."""
    names, config = kind_names(), result.config
    against = {each.kind: _against(each, config.axis) for each in result.crossings}
    counted = {row.kind: row for row in compare_results.counted(config)} if config.counting == "built" else {}
    rows = []
    for kind, (cost, steps, path) in result.here.items():
        row = {_("layer"): names[kind], _("grows as"): ORDERS[kind][0], _("operations here"): cost}
        if counted:
            row[_("torch counts the same")] = _counted(counted[kind].agrees, counted[kind].tokens)
        row |= {_("waits"): steps, _("longest path"): path, _("against attention"): against.get(kind, "")}
        rows.append(row)
    show.tabled(show.columns(rows), "the-table", "c-table-rows")
    if counted and all(row.agrees for row in counted.values()):
        steps = counted["lstm"].tokens
        said = ngettext(
            "Formula and torch’s own FLOP counter agree on all {n} layers, and so do the parameters. "
            "The counter runs the layers on the meta device, recurrences over {steps} token.",
            "Formula and torch’s own FLOP counter agree on all {n} layers, and so do the parameters. "
            "The counter runs the layers on the meta device, recurrences over {steps} tokens.",
            steps,
        )
        st.caption(said.format(n=len(counted), steps=steps))


def _counted(agrees: bool, tokens: int) -> str:
    yes = ngettext("yes, over {n:,} token", "yes, over {n:,} tokens", tokens)
    return (yes if agrees else ngettext("NO, over {n:,} token", "NO, over {n:,} tokens", tokens)).format(n=tokens)


def _against(crossing: layer_costs.CrossingPoint, axis: str) -> str:
    """A sentence on where attention is the cheaper one."""
    if crossing.at is None:
        said = {
            "cheaper": _("attention is cheaper at every {axis}"),
            "dearer": _("attention is dearer at every {axis}"),
            "equal": _("costs the same at every {axis}"),
        }[crossing.attention_is]
        return said.format(axis=axis)
    said = {
        "cheaper": _("attention is dearer beyond {axis} = {at:,.6g}"),
        "dearer": _("attention is cheaper beyond {axis} = {at:,.6g}"),
    }[crossing.attention_is]
    return said.format(axis=axis, at=float(crossing.at))
