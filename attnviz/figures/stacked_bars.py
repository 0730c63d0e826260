"""A bar for each way of doing something, made of its parts."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from attnviz.figures.theme import Figure, layout


def stacked(
    ways: Sequence[str],
    parts: Mapping[str, Sequence[int]],
    names: Mapping[str, str],
    colours: Mapping[str, str],
    axis: dict[str, Any],
    *,
    text: Callable[[float], str] | None = None,
    height: int,
) -> Figure:
    """One bar below the other, each part in its colour; a part that is 0 everywhere is left out.

    `text` puts a value into words where a mouse points, else it is said in digits; `axis` is the one of values.
    """
    bars = [
        go.Bar(
            y=list(ways),
            x=list(values),
            name=names[part],
            orientation="h",
            marker_color=colours[part],
            customdata=text and [text(value) for value in values],
            hovertemplate=("%{y}: %{customdata}" if text else "%{y}: %{x:,}") + f"<extra>{names[part]}</extra>",
        )
        for part, values in parts.items()
        if any(values)
    ]
    look = {
        "barmode": "stack",
        "bargap": 0.35,
        "legend": {"traceorder": "normal"},
        "yaxis": {"autorange": "reversed", "type": "category"},
        "xaxis": axis,
    }
    return layout(go.Figure(bars, look), height=height)
