"""Charts of decoding: bytes over tokens, passes with a cache and without, rounding, and policies of what to keep."""

import html
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from attnviz.base.rounding import Rounded
from attnviz.base.units import binary_unit
from attnviz.base.words import _
from attnviz.figures.heatmap import label
from attnviz.figures.roofline import RoofPoints, under_roof
from attnviz.figures.theme import (
    K_VERMILION,
    MASKED,
    RAW,
    SCALED,
    SERIES,
    THEORY,
    V_GREEN,
    Figure,
    layout,
)
from attnviz.figures.title_lines import in_lines

POWERS = {"type": "log", "dtick": 1, "exponentformat": "power"}
FLOOR, KL_FLOOR = 1e-8, 1e-6  #: drawn in place of 0 on a log axis: for a rounded cache, for a policy


# Bytes of a cache over the number of tokens, one line for each way of sharing.
def growth(tokens: Sequence[int], lines: Mapping[str, Sequence[int]], at: int) -> Figure:
    """Bytes over tokens, both linear; `at` is the chosen place in `tokens`."""
    unit, size = binary_unit(max(max(values) for values in lines.values()))
    curves = [
        go.Scatter(
            x=list(tokens),
            y=[value / size for value in values],
            name=name,
            mode="lines",
            line={"color": SERIES[number], "width": 2.5},
            hovertemplate="%{x:,}: %{y:,.4g} " + unit + "<extra>" + name + "</extra>",
        )
        for number, (name, values) in enumerate(lines.items())
    ]
    return _drawn(curves, 260, _("tokens in the cache"), unit, {"tickformat": ","}, {"rangemode": "tozero"}, tokens[at])


def _drawn(
    traces: Any,
    height: int,
    x_title: str,
    y_title: str,
    x_axis: dict[str, Any],
    y_axis: dict[str, Any],
    here: float | None = None,
    **look: Any,
) -> Figure:
    """The traces with their names, titles of the axes and what else there is of these, and a line at `here`."""
    x, y = ({"text": text, "font": {"size": 12}} for text in (x_title, y_title))
    if here is not None:
        ends = {"x0": here, "x1": here, "xref": "x", "y0": 0, "y1": 1, "yref": "y domain"}
        look["shapes"] = [{"type": "line", "line": {"color": THEORY, "width": 1, "dash": "dot"}, **ends}]
    axes = {"showlegend": True, "xaxis": {"title": x, **x_axis}, "yaxis": {"title": y, **y_axis}}
    return layout(go.Figure(traces, axes | look), height=height)


def roofline(
    peak: float, bandwidth: float, points: Mapping[str, tuple[Sequence[float], Sequence[float], Sequence[str]]]
) -> Figure:
    """FLOP/s over FLOPs a byte, both logarithmic. `points`: kind -> (intensities, FLOP/s, labels)."""
    kinds = {
        "prefill": (_("prefill, tokens in the prompt"), "bottom right", "circle", SERIES[0]),
        "decode": (_("decode, one token after so many"), "top left", "diamond", SERIES[1]),
    }
    under = [RoofPoints(*look, *points[kind]) for kind, look in kinds.items()]
    return under_roof(peak, bandwidth, under, _("FLOPs for each byte read"))


def _beside(at: int, shares: Sequence[float], values: Sequence[float]) -> str:
    """Where a point's name stands: above it, or below it where another one lies close by and higher."""
    low = any(
        abs(share - shares[at]) < 0.125 and value > values[at] for share, value in zip(shares, values, strict=True)
    )
    return f"{'bottom' if low else 'top'} {'left' if shares[at] > 0.35 else 'right'}"


def for_bytes(names: Sequence[str], shares: Sequence[float], values: Sequence[float]) -> Figure:
    """Mean KL (nats) against the share of the 16-bit cache's bytes: to the left is smaller, down is closer."""
    points = go.Scatter(
        x=list(shares),
        y=[max(value, FLOOR) for value in values],
        mode="markers+text",
        text=[in_lines(name, 170, 13) for name in names],
        textposition=[_beside(at, shares, values) for at in range(len(shares))],
        marker={"size": 13, "color": [SERIES[n % len(SERIES)] for n in range(len(names))]},
        hovertemplate="%{text}: %{x:.1%}, %{y:.3g}<extra></extra>",
        cliponaxis=False,
    )
    x_title, x_axis = _("bytes, as a share of the same cache at 16 bits"), {"tickformat": ".0%", "range": [0, 0.62]}
    return _drawn(points, 320, x_title, _("KL, nats"), x_axis, POWERS, showlegend=None)


def errors(lines: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> Figure:
    """The error of keys (solid) and values (dashed) by layer, one pair of lines for each format."""
    dashes = ("solid", "dash", "dot", "dashdot", "longdash")
    curves = [
        go.Scatter(
            x=list(range(len(errors))),
            y=[100 * each for each in errors],
            name=f"{which}, {name}",
            mode="lines",
            line={"color": colour, "width": 2, "dash": dashes[number % len(dashes)]},
            hovertemplate="%{x}: %{y:.3g} %<extra>" + f"{which}, {name}" + "</extra>",
        )
        for number, (name, of_both) in enumerate(lines.items())
        for which, errors, colour in zip((_("K"), _("V")), of_both, (K_VERMILION, V_GREEN), strict=True)
    ]
    return _drawn(
        curves, 320, _("layer"), _("error, % of the numbers’ size"), {}, {"type": "log", "exponentformat": "none"}
    )


def so_far(cached: Sequence[float], anew: Sequence[float], unit: str, here: int) -> Figure:
    """Running totals over the steps, with a cache and without; `here` is the chosen step, from 0."""
    steps = list(range(1, len(cached) + 1))
    curves = [
        go.Scatter(
            x=steps,
            y=list(values),
            name=name,
            mode="lines+markers",
            line={"color": colour, "width": 2.5},
            marker={"size": 6},
            hovertemplate="%{x}: %{y:,.4g}<extra>" + name + "</extra>",
        )
        for name, values, colour in ((_("with a cache"), cached, SCALED), (_("without"), anew, RAW))
    ]
    return _drawn(curves, 240, _("step"), unit, {"dtick": max(1, len(steps) // 8)}, {"rangemode": "tozero"}, here + 1)


def by_layer(keys: Sequence[int], values: Sequence[int]) -> Figure:
    """Bytes of the keys and of the values that each layer holds."""
    bars = [
        go.Bar(
            x=list(range(len(nbytes))),
            y=[each / 1024 for each in nbytes],
            name=name,
            marker_color=colour,
            hovertemplate="%{x}: %{y:,.4g} KiB<extra>" + name + "</extra>",
        )
        for name, nbytes, colour in ((_("K"), keys, K_VERMILION), (_("V"), values, V_GREEN))
    ]
    return _drawn(bars, 220, _("layer"), _("KiB"), {}, {"rangemode": "tozero"}, barmode="stack")


LABELS = 48  #: of rows
CELLS_APART = 48  #: columns whose cells are told apart by a gap; of more, a phone would show the gaps alone
LABELS_ACROSS = 24  #: of columns, so that a phone has room for them


def over_budget(lines: Mapping[str, tuple[Sequence[int], Sequence[float]]], total: int, here: int) -> Figure:
    """Mean KL (nats) over the budget, one line for each policy; the top axis is the share of bytes that is kept."""
    curves = [
        go.Scatter(
            x=list(budgets),
            y=[max(value, KL_FLOOR) for value in values],
            name=name,
            mode="lines+markers",
            line={"color": SERIES[number], "width": 2.5},
            marker={"size": 8},
            customdata=[budget / total for budget in budgets],
            hovertemplate="%{x} (%{customdata:.0%}): %{y:.3g}<extra>" + html.escape(name) + "</extra>",
        )
        for number, (name, (budgets, values)) in enumerate(lines.items())
    ]
    every = sorted({budget for budgets, _values in lines.values() for budget in budgets})
    x_axis = {"type": "log", "tickvals": every, "ticktext": [f"{n}<br>{Rounded(n / total):.0%}" for n in every]}
    return _drawn(curves, 330, _("positions kept, and the share of bytes"), _("KL, nats"), x_axis, POWERS, here)


def kept_map(kept: np.ndarray, rows: Sequence[str], cols: Sequence[str], colour: str) -> Figure:
    """Which of the columns each row may see: `kept` (rows, cols); what comes later is left blank."""
    later = np.arange(len(cols)) > np.arange(len(cols) - len(rows), len(cols))[:, None]
    gap = 1 if len(cols) <= CELLS_APART else 0
    cells = go.Heatmap(
        z=np.where(later, np.nan, kept.astype(np.float32)),
        colorscale=[(0, MASKED), (0.5, MASKED), (0.5, colour), (1, colour)],
        zmin=0,
        zmax=1,
        showscale=False,
        hoverongaps=False,
        xgap=gap,
        ygap=gap,
        customdata=np.where(kept, _("kept"), _("evicted")),
        hovertemplate="%{y} → %{x}<br>%{customdata}<extra></extra>",
    )
    axes = {
        "xaxis": _tokens(cols, LABELS_ACROSS) | {"side": "top", "tickangle": -60},
        "yaxis": _tokens(rows, LABELS) | {"autorange": "reversed"},
    }
    return layout(go.Figure(cells, axes), height=int(np.clip(120 + 9 * len(rows), 260, 640)))


def _tokens(tokens: Sequence[str], most: int) -> dict[str, Any]:
    """An axis of tokens, at most so many of them named."""
    step = max(1, -(-len(tokens) // most))
    return {
        "tickmode": "array",
        "tickvals": list(range(len(tokens))),
        "ticktext": [label(token) if n % step == 0 else "" for n, token in enumerate(tokens)],
        "tickfont": {"size": 10},
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
    }
