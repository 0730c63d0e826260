"""Charts of decoding: bytes over tokens, passes with a cache and without, rounding, and policies of what to keep."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from attnviz.base.units import binary_unit
from attnviz.base.words import _
from attnviz.figures.heatmap import label
from attnviz.figures.theme import K_VERMILION, MASKED, RAW, SCALED, SERIES, THEORY, V_GREEN, Figure, layout
from attnviz.figures.title_lines import in_lines


# Bytes of a cache over the number of tokens, one line for each way of sharing.
def growth(tokens: Sequence[int], lines: Mapping[str, Sequence[int]], at: int) -> Figure:
    """Bytes over tokens, both linear; `at` is the chosen place in `tokens`."""
    fig = go.Figure()
    most = max(max(values) for values in lines.values())
    unit, size = binary_unit(most)
    for number, (name, values) in enumerate(lines.items()):
        fig.add_trace(
            go.Scatter(
                x=list(tokens),
                y=[value / size for value in values],
                name=name,
                mode="lines",
                line={"color": SERIES[number], "width": 2.5},
                hovertemplate="%{x:,}: %{y:,.4g} " + unit + "<extra>" + name + "</extra>",
            )
        )
    fig.add_vline(x=tokens[at], line={"color": THEORY, "width": 1, "dash": "dot"})
    fig.update_xaxes(title={"text": _("tokens in the cache"), "font": {"size": 12}}, tickformat=",")
    fig.update_yaxes(title={"text": unit, "font": {"size": 12}}, rangemode="tozero")
    fig.update_layout(showlegend=True)
    return layout(fig, height=260)


COLOURS = {"prefill": SERIES[0], "decode": SERIES[1]}


def roofline(
    peak: float, bandwidth: float, points: Mapping[str, tuple[Sequence[float], Sequence[float], Sequence[str]]]
) -> Figure:
    """FLOP/s over FLOPs a byte, both logarithmic. `points`: kind -> (intensities, FLOP/s, labels)."""
    fig = go.Figure()
    ridge = peak / bandwidth
    seen = [x for xs, _ys, _labels in points.values() for x in xs]
    x = np.geomspace(min([*seen, ridge]) / 2, max([*seen, ridge]) * 3, 80)
    x = np.sort(np.append(x, ridge))
    fig.add_trace(
        go.Scatter(
            x=x,
            y=np.minimum(peak, bandwidth * x) / 1e9,
            mode="lines",
            name=_("the most this machine can do"),
            line={"color": THEORY, "width": 2.5},
            hovertemplate="%{x:.3g}: %{y:,.4g} GFLOP/s<extra></extra>",
        )
    )
    names = {"prefill": _("prefill, tokens in the prompt"), "decode": _("decode, one token after so many")}
    for kind, (xs, ys, labels) in points.items():
        fig.add_trace(
            go.Scatter(
                x=list(xs),
                y=[y / 1e9 for y in ys],
                mode="markers+text",
                name=names[kind],
                text=[html.escape(label) for label in labels],
                textposition="bottom right" if kind == "prefill" else "top left",
                textfont={"size": 11},
                marker={"size": 10, "color": COLOURS[kind], "symbol": "circle" if kind == "prefill" else "diamond"},
                hovertemplate="%{text}: %{x:.3g} FLOP/byte, %{y:,.4g} GFLOP/s<extra>" + names[kind] + "</extra>",
                cliponaxis=False,
            )
        )
    fig.add_vline(x=ridge, line={"color": THEORY, "width": 1, "dash": "dot"})
    fig.update_xaxes(
        type="log", title={"text": _("FLOPs for each byte read"), "font": {"size": 12}}, dtick=1, tickformat=","
    )
    fig.update_yaxes(type="log", title={"text": _("GFLOP/s"), "font": {"size": 12}}, dtick=1, tickformat=",")
    fig.update_layout(showlegend=True)
    return layout(fig, height=380)


# Cache policies: how far predictions move over the budget, and which positions are kept.
FLOOR = 1e-8


def for_bytes(names: Sequence[str], shares: Sequence[float], values: Sequence[float]) -> Figure:
    """Mean KL (nats) against the share of the 16-bit cache's bytes: to the left is smaller, down is closer."""
    fig = go.Figure(
        go.Scatter(
            x=list(shares),
            y=[max(value, FLOOR) for value in values],
            mode="markers+text",
            text=[in_lines(name, 170, 13) for name in names],
            textposition=["top left" if share > 0.35 else "top right" for share in shares],
            marker={"size": 13, "color": [SERIES[n % len(SERIES)] for n in range(len(names))]},
            hovertemplate="%{text}: %{x:.1%}, %{y:.3g}<extra></extra>",
            cliponaxis=False,
        )
    )
    fig.update_xaxes(
        title={"text": _("bytes, as a share of the same cache at 16 bits"), "font": {"size": 12}},
        tickformat=".0%",
        range=[0, 0.62],
    )
    fig.update_yaxes(type="log", title={"text": _("KL, nats"), "font": {"size": 12}}, dtick=1, exponentformat="power")
    return layout(fig, height=320)


def errors(lines: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> Figure:
    """The error of keys (solid) and values (dashed) by layer, one pair of lines for each format."""
    fig = go.Figure()
    dashes = ("solid", "dash", "dot", "dashdot", "longdash")
    for number, (name, (keys, values)) in enumerate(lines.items()):
        for which, held, colour in ((_("K"), keys, K_VERMILION), (_("V"), values, V_GREEN)):
            fig.add_trace(
                go.Scatter(
                    x=list(range(len(held))),
                    y=[100 * each for each in held],
                    name=f"{which}, {name}",
                    mode="lines",
                    line={"color": colour, "width": 2, "dash": dashes[number % len(dashes)]},
                    hovertemplate="%{x}: %{y:.3g} %<extra>" + f"{which}, {name}" + "</extra>",
                )
            )
    fig.update_xaxes(title={"text": _("layer"), "font": {"size": 12}})
    fig.update_yaxes(
        type="log", title={"text": _("error, % of the numbers’ size"), "font": {"size": 12}}, exponentformat="none"
    )
    fig.update_layout(showlegend=True)
    return layout(fig, height=320)


def so_far(cached: Sequence[float], anew: Sequence[float], unit: str, here: int | None = None) -> Figure:
    """Running totals over the steps, with a cache and without; `here` is the chosen step, from 0."""
    fig = go.Figure()
    steps = list(range(1, len(cached) + 1))
    for name, values, colour in ((_("with a cache"), cached, SCALED), (_("without"), anew, RAW)):
        fig.add_trace(
            go.Scatter(
                x=steps,
                y=list(values),
                name=name,
                mode="lines+markers",
                line={"color": colour, "width": 2.5},
                marker={"size": 6},
                hovertemplate="%{x}: %{y:,.4g}<extra>" + name + "</extra>",
            )
        )
    if here is not None:
        fig.add_vline(x=here + 1, line={"color": "#7F7F7F", "width": 1, "dash": "dot"})
    fig.update_xaxes(title={"text": _("step"), "font": {"size": 12}}, dtick=max(1, len(steps) // 8))
    fig.update_yaxes(title={"text": unit, "font": {"size": 12}}, rangemode="tozero")
    fig.update_layout(showlegend=True)
    return layout(fig, height=240)


def by_layer(keys: Sequence[int], values: Sequence[int]) -> Figure:
    """Bytes of the keys and of the values that each layer holds."""
    fig = go.Figure()
    for name, held, colour in ((_("K"), keys, K_VERMILION), (_("V"), values, V_GREEN)):
        fig.add_trace(
            go.Bar(
                x=list(range(len(held))),
                y=[each / 1024 for each in held],
                name=name,
                marker_color=colour,
                hovertemplate="%{x}: %{y:,.4g} KiB<extra>" + name + "</extra>",
            )
        )
    fig.update_layout(barmode="stack", showlegend=True)
    fig.update_xaxes(title={"text": _("layer"), "font": {"size": 12}})
    fig.update_yaxes(title={"text": _("KiB"), "font": {"size": 12}}, rangemode="tozero")
    return layout(fig, height=220)


KL_FLOOR = 1e-6  #: drawn in place of 0 on the log axis
LABELS = 48  #: of rows
CELLS_APART = 48  #: columns whose cells are told apart by a gap; of more, a phone would show the gaps alone
LABELS_ACROSS = 24  #: of columns, so that a phone has room for them


def over_budget(lines: Mapping[str, tuple[Sequence[int], Sequence[float]]], total: int, here: int) -> Figure:
    """Mean KL (nats) over the budget, one line for each policy; the top axis is the share of bytes that is kept."""
    fig = go.Figure()
    for number, (name, (budgets, values)) in enumerate(lines.items()):
        fig.add_trace(
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
        )
    budgets = sorted({budget for held, _values in lines.values() for budget in held})
    fig.add_vline(x=here, line={"color": THEORY, "width": 1, "dash": "dot"})
    fig.update_xaxes(
        type="log",
        tickvals=budgets,
        ticktext=[f"{budget}<br>{budget / total:.0%}" for budget in budgets],
        title={"text": _("positions kept, and the share of bytes"), "font": {"size": 12}},
    )
    fig.update_yaxes(type="log", title={"text": _("KL, nats"), "font": {"size": 12}}, dtick=1, exponentformat="power")
    fig.update_layout(showlegend=True)
    return layout(fig, height=330)


def kept_map(kept: np.ndarray, rows: Sequence[str], cols: Sequence[str], colour: str) -> Figure:
    """Which of the columns each row may see: `kept` (rows, cols); what comes later is left blank."""
    first = len(cols) - len(rows)
    later = np.arange(len(cols))[None] > first + np.arange(len(rows))[:, None]
    codes = np.where(later, np.nan, kept.astype(np.float32))
    gap = 1 if len(cols) <= CELLS_APART else 0
    fig = go.Figure(
        go.Heatmap(
            z=codes,
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
    )
    for update, tokens, most, more in (
        (fig.update_xaxes, cols, LABELS_ACROSS, {"side": "top", "tickangle": -60}),
        (fig.update_yaxes, rows, LABELS, {"autorange": "reversed"}),
    ):
        step = max(1, -(-len(tokens) // most))
        update(
            tickmode="array",
            tickvals=list(range(len(tokens))),
            ticktext=[label(token) if n % step == 0 else "" for n, token in enumerate(tokens)],
            tickfont={"size": 10},
            showgrid=False,
            zeroline=False,
            ticks="",
            **more,
        )
    return layout(fig, height=int(np.clip(120 + 9 * len(rows), 260, 640)))
