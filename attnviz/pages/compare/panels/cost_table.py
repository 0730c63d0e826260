"""Costs of the layers as curves over length, width or kernel, and where they cross."""

from collections.abc import Sequence
from typing import cast

import numpy as np
import streamlit as st

from attnviz.app import page_parts, show, widgets
from attnviz.app.cache.shared_results import shared
from attnviz.app.panel import show_problems
from attnviz.base import units
from attnviz.base.words import _, join_list, ngettext
from attnviz.figures.theme import Figure
from attnviz.pages.compare import choices, figures
from attnviz.pages.compare.maths import compared_layers, layer_costs

BOX = 100  #: pixels of a number box
#: how a layer's cost grows, in the quoted table's own words where it has the layer
ORDERS = {
    "attention": "O(n²·d)",
    "window": "O(r·n·d)",
    "linear": "O(n·d²)",
    "rnn": "O(n·d²)",
    "lstm": "O(n·d²)",
    "gru": "O(n·d²)",
    "conv": "O(k·n·d²)",
    "dilated": "O(k·n·d²)",
}

# computed once for all visitors with the same sizes
compute_costs = shared(layer_costs.run)
count_layers = shared(compared_layers.count_layers)


def panel() -> None:
    costs = st.container()
    config = draw_controls()
    with show_problems():
        result = compute_costs(config)
        axis = {"n": _("tokens n"), "d": _("width d"), "k": _("kernel k")}[config.axis]
        with costs:
            _draw_costs(result, axis)
        _draw_table(result)
        show.program(compared_layers.program(config), "c-table", about=_describe_program(config))


def _describe_program(config: layer_costs.Config) -> str:
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


def draw_controls() -> layer_costs.Config:
    """Draw the sizes and what the curves run over."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        axis = widgets.select_one(choices.AXIS, _("Curves over"), {"n": "n", "d": "d", "k": "k"})
        counting = widgets.select_one(
            choices.COUNTING,
            _("Counted"),
            {"built": _("as built"), "table": _("as quoted")},
            help=_(
                "As quoted: the terms that papers print, constants and projections left out. As built: what torch’s "
                "layers multiply and add, projections and gates included."
            ),
        )
        chosen = draw_size_boxes(("n", "d"))
        with page_parts.more_menu():
            chosen |= draw_size_boxes(("k", "window", "heads"))
    return layer_costs.Config(
        **chosen, counting=cast(layer_costs.Counting, counting), axis=cast(layer_costs.Axis, axis)
    )


def draw_size_boxes(names: Sequence[str] = ("n", "d", "k", "window", "heads")) -> dict[str, int]:
    """Draw a box for each size; the values by name."""
    labels = {
        "n": _("tokens n"),
        "d": _("width d"),
        "k": _("kernel k"),
        "window": _("window r"),
        "heads": _("heads"),
    }
    return {name: widgets.number_box(choices.SIZES[name], labels[name], step=1, width=BOX) for name in names}


def _draw_costs(result: layer_costs.Result, axis: str) -> None:
    """Draw operations per token over the axis."""
    config = result.config
    show.figure(
        show.chart_of(_draw_cost_chart, config, axis),
        name=f"cost-over-{config.axis}",
        key="c-cost",
        table={config.axis: result.x, **result.cost},
        sentence=_cost_caption(result),
    )


def _draw_cost_chart(config: layer_costs.Config, axis: str) -> Figure:
    result, names = compute_costs(config), figures.kind_names()
    title, kind = _("FLOPs per token: against {layer}, {compared}"), "lstm"
    if config.counting == "table":
        title, kind = _("Operations per token: against {layer}, {compared}"), "rnn"
    crossing = next(candidate for candidate in result.crossings if candidate.kind == kind)
    tokens = _tokens_along_x(result)
    return figures.draw_curves(
        [
            figures.KindCurve(kind, names[kind], result.x, cost / tokens)
            for kind, cost in result.cost.items()
            if kind != "dilated"
        ],
        title.format(layer=names[kind], compared=_compare_with_attention(crossing, config.axis)),
        axis,
        here=getattr(config, config.axis),
        crossings=_find_crossing_points(result),
        unit=_(" operations per token"),
        height=400,
    )


def _tokens_along_x(result: layer_costs.Result) -> np.ndarray:
    """Number of tokens at each point of the curves."""
    return result.x if result.config.axis == "n" else np.full_like(result.x, result.config.n)


def _find_crossing_points(result: layer_costs.Result) -> list[tuple[float, float, str]]:
    """(x, y, hover text) where attention's curve meets another, inside the chart."""
    points, names = [], figures.kind_names()
    for crossing in result.crossings:
        if crossing.position is not None and result.x[0] <= crossing.position <= result.x[-1]:
            x = float(crossing.position)
            cost_per_token = np.log(result.cost["attention"] / _tokens_along_x(result))
            y = float(np.exp(np.interp(np.log(x), np.log(result.x), cost_per_token)))
            text = _("{name} costs as much as attention at {axis} = {at:,.6g}")
            points.append((x, y, text.format(name=names[crossing.kind], axis=result.config.axis, at=x)))
    return points


def _cost_caption(result: layer_costs.Result) -> str:
    config, names = result.config, figures.kind_names()
    here = {kind: cost for kind, (cost, _steps, _path) in result.here.items()}
    others = [kind for kind in here if kind not in ("attention", "dilated")]
    dearest, cheapest = max(others, key=here.__getitem__), min(others, key=here.__getitem__)
    met = [
        (
            _("{name} up to {axis} = {at:,.6g}")
            if crossing.attention_is == "equal"
            else _("{name} at {axis} = {at:,.6g}")
        ).format(name=names[crossing.kind], axis=config.axis, at=float(crossing.position))
        for crossing in result.crossings
        if crossing.position is not None
    ]
    in_words = units.flop if config.counting == "built" else _format_operations
    return _(
        "At n = {n:,} and d = {d:,}, self-attention takes **{mine}**, {cheapest} {low} and {dearest} {high}. "
        "A ring marks where a layer costs as much as attention: {crossings}."
    ).format(
        n=config.n,
        d=config.d,
        mine=in_words(here["attention"]),
        cheapest=names[cheapest],
        low=in_words(here[cheapest]),
        dearest=names[dearest],
        high=in_words(here[dearest]),
        crossings=join_list(met) or _("nowhere here"),
    )


def _format_operations(count: float) -> str:
    return ngettext("{n} operation", "{n} operations", round(count)).format(n=units.format_count(round(count)))


def _draw_table(result: layer_costs.Result) -> None:
    """Draw the quoted table with this page's numbers, torch's counts and the crossings."""
    names, config = figures.kind_names(), result.config
    comparisons = {crossing.kind: _compare_with_attention(crossing, config.axis) for crossing in result.crossings}
    by_torch = {row.kind: row for row in count_layers(config)} if config.counting == "built" else {}
    orders = ORDERS if by_torch else ORDERS | {"linear": "O(n·d²/h)"}  # as built, projections of d x d dominate
    rows = []
    for kind, (cost, steps, path) in result.here.items():
        row = {_("layer"): names[kind], _("grows as"): orders[kind], _("operations here"): cost}
        if by_torch:
            row[_("torch counts the same")] = _format_agreement(by_torch[kind].agrees, by_torch[kind].tokens)
        row |= {_("waits"): steps, _("longest path"): path, _("against attention"): comparisons.get(kind, "")}
        rows.append(row)
    show.table_with_downloads(show.to_columns(rows), "the-table", "c-table-rows")
    if not by_torch:
        st.caption(
            _(
                "Self-attention, its window r, recurrence and convolution: Vaswani et al. 2017, table 1. Linear "
                "attention came later and is not in that table: Katharopoulos et al. 2020, with h heads of width d/h."
            )
        )
    elif all(row.agrees for row in by_torch.values()):
        steps = by_torch["lstm"].tokens
        text = ngettext(
            "Formula and torch’s own FLOP counter agree on all {n} layers, and so do the parameters. "
            "The counter runs the layers on the meta device, recurrences over {steps} token.",
            "Formula and torch’s own FLOP counter agree on all {n} layers, and so do the parameters. "
            "The counter runs the layers on the meta device, recurrences over {steps} tokens.",
            steps,
        )
        st.caption(text.format(n=len(by_torch), steps=steps))


def _format_agreement(agrees: bool, tokens: int) -> str:
    if agrees:
        return ngettext("yes, over {n:,} token", "yes, over {n:,} tokens", tokens).format(n=tokens)
    return ngettext("NO, over {n:,} token", "NO, over {n:,} tokens", tokens).format(n=tokens)


def _compare_with_attention(crossing: layer_costs.CrossingPoint, axis: str) -> str:
    """Sentence that says where attention costs less."""
    everywhere = {
        "cheaper": _("attention costs less at every {axis}"),
        "dearer": _("attention costs more at every {axis}"),
        "equal": _("attention costs the same at every {axis}"),
    }
    beyond = {
        "cheaper": _("attention costs more beyond {axis} = {at:,.6g}"),
        "dearer": _("attention costs less beyond {axis} = {at:,.6g}"),
        "equal": _("attention costs the same up to {axis} = {at:,.6g}, and more beyond"),
    }
    if crossing.position is None:
        return everywhere[crossing.attention_is].format(axis=axis)
    return beyond[crossing.attention_is].format(axis=axis, at=float(crossing.position))
