"""Softmax by itself: where naive arithmetic overflows, and where a mix of values ends up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from attnviz.figures.theme import RAW, SCALED, SERIES, V_GREEN, Figure, layout
from attnviz.words import _


def overflow(shifts: np.ndarray, attempts: Sequence[tuple[str, np.ndarray, np.ndarray, float | None]]) -> Figure:
    """The largest weight after adding a number to every score, for each (format, naive, stable, first that broke).

    Softmax does not change when all scores move together: every line should be flat.
    """
    fig = go.Figure()
    top = 1.0
    for i, (name, naive, _stable, broken) in enumerate(attempts):
        colour = SERIES[i]
        fig.add_scatter(
            x=shifts + 1,
            y=np.where(np.isfinite(naive), naive, np.nan),
            mode="lines",
            line={"color": colour, "width": 2.5},
            name=name,
            customdata=shifts,
            hovertemplate=_("scores + %{customdata:.4g}: %{y:.6f}") + f"<extra>{name}</extra>",
        )
        if broken is None:
            continue
        before = naive[shifts < broken]
        end = float(before[-1]) if len(before) and np.isfinite(before[-1]) else top
        fig.add_scatter(
            x=[broken + 1],
            y=[end],
            mode="markers+text",
            marker={"symbol": "x", "size": 11, "color": colour},
            text=[f"+{broken:g}"],
            # a mark far right has no room beside it
            textposition=("top " if i % 2 else "bottom ") + ("left" if broken > 100 else "center"),
            showlegend=False,
            hovertemplate=_("breaks when {shift} is added").format(shift=f"{broken:g}") + f"<extra>{name}</extra>",
        )
    ticks = [0, 1, 3, 10, 30, 100, 300, 1000]
    fig.update_xaxes(
        type="log",
        title_text=_("added to every score"),
        tickvals=[t + 1 for t in ticks],
        ticktext=[str(t) for t in ticks],
        range=[-0.05, 3.05],
    )
    fig.update_yaxes(title_text=_("largest weight, naively"))
    return layout(fig, height=320)


def mixes(values: np.ndarray, by_weights: np.ndarray, by_scores: np.ndarray, shifted: np.ndarray) -> Figure:
    """Values (n, 2) as points with their hull; where weights, raw scores, and raw scores + 1 carry the mix."""
    fig = go.Figure()
    fig.add_scatter(
        x=values[:, 0],
        y=values[:, 1],
        mode="lines+markers" if len(values) <= 64 else "lines",
        fill="toself" if len(values) > 2 else None,
        fillcolor="rgba(0,158,115,0.12)",
        marker={"color": V_GREEN, "size": 9},
        line={"color": V_GREEN, "width": 1},
        name=_("values, and all mixes of them"),
        hovertemplate=_("value of key %{pointNumber}") + "<extra></extra>",
    )
    arrows = (
        (by_weights, SCALED, "circle", _("mixed by softmax weights")),
        (by_scores, RAW, "diamond", _("mixed by raw scores")),
        (shifted, RAW, "diamond-open", _("by raw scores + 1")),
    )
    for end, colour, symbol, name in arrows:
        fig.add_scatter(
            x=[0, end[0]],
            y=[0, end[1]],
            mode="lines+markers",
            line={"color": colour, "width": 1.5, "dash": "dot"},
            marker={"color": colour, "size": [0, 13], "symbol": symbol, "line_width": 2},
            name=name,
            hovertemplate="(%{x:.3g}, %{y:.3g})" + f"<extra>{name}</extra>",
        )
    return layout(fig, height=360)
