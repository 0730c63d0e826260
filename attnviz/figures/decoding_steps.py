"""What decoding costs, step by step: with a cache beside without one."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from attnviz.figures.theme import K_VERMILION, RAW, SCALED, V_GREEN, Figure, layout
from attnviz.words import _


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
