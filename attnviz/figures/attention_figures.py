"""Probabilities of tokens as bars."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from attnviz.figures.heatmap import label
from attnviz.figures.theme import MASKED, SCALED, Figure, layout
from attnviz.words import _


def bars(
    names: Sequence[str],
    values: Sequence[float],
    other: Sequence[float] | None = None,
    *,
    labels: tuple[str, str] = ("", ""),
) -> Figure:
    """Probabilities by token, the first on top; `other` draws a second bar beside each, for before and after."""
    fig = go.Figure()
    y = list(range(len(names)))
    series = (
        [(values, labels[0], SCALED)] if other is None else [(values, labels[0], MASKED), (other, labels[1], SCALED)]
    )
    for shares, name, colour in series:
        fig.add_trace(
            go.Bar(
                x=list(shares),
                y=y,
                orientation="h",
                name=name,
                marker_color=colour,
                text=[f"{share:.1%}" for share in shares],
                textposition="outside",
                cliponaxis=False,
                hovertemplate="%{y}: %{x:.4f}<extra></extra>",
            )
        )
    fig.update_yaxes(autorange="reversed", tickvals=y, ticktext=[label(name, 24) for name in names], showgrid=False)
    top = max([0.05, *values, *(other or ())])
    fig.update_xaxes(range=[0, min(1.15, top * 1.2)], tickformat=".0%", title=_("probability"), rangemode="tozero")
    fig.update_layout(barmode="group", showlegend=other is not None, bargap=0.25)
    return layout(fig, height=60 + (34 if other is not None else 26) * len(names))
