"""Bytes of a cache over the number of tokens, one line for each way of sharing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from attnviz.byte_units import binary_unit
from attnviz.figures.theme import SERIES, THEORY, Figure, layout
from attnviz.words import _


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
