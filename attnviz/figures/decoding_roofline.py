"""The roofline of a machine, and where prefill and decode stand under it."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from attnviz.figures.theme import SERIES, THEORY, Figure, layout
from attnviz.words import _

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
