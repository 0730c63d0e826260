"""What several pages show of attention: weights beside each other, and probabilities of tokens as bars."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from attnviz.base.words import _
from attnviz.figures.heatmap import label, masked_legend, matrix
from attnviz.figures.theme import MASKED, SCALED, Figure, layout
from attnviz.figures.title_lines import above


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


def side_by_side(
    parts: Sequence[tuple[str, np.ndarray]],
    rows: Sequence[str],
    cols: Sequence[str],
    title: str | None = None,
    repeat_rows: bool = True,
) -> Figure:
    """Matrices of weights beside each other on one scale from 0 to 1; `parts` are (title, weights (Q, K)).

    `repeat_rows=False` labels the rows of the first only, which leaves more room for the numbers.
    """
    fig = make_subplots(
        1,
        len(parts),
        subplot_titles=[name for name, _values in parts] if len(parts) > 1 else None,
        horizontal_spacing=0.2 if repeat_rows else 0.04,
    )
    for i, (_name, values) in enumerate(parts, start=1):
        drawn = matrix(values, rows, cols, numbers=len(rows) <= 5)
        for trace in drawn.data:
            trace.update(showscale=i == len(parts) and trace.showscale is not False)
            fig.add_trace(trace, 1, i)
        fig.update_xaxes(**ticks(cols), showgrid=False, zeroline=False, constrain="domain", row=1, col=i)
        fig.update_yaxes(
            **ticks(rows),
            showgrid=False,
            zeroline=False,
            autorange="reversed",
            scaleanchor=f"x{i if i > 1 else ''}",
            constrain="domain",
            showticklabels=repeat_rows or i == 1,
            row=1,
            col=i,
        )
    fig = layout(fig, title, height=int(np.clip(120 + 30 * len(rows), 240, 460)))
    if any(not np.isfinite(values).all() for _name, values in parts):
        masked_legend(fig, _("masked"))
    return fig.update_layout(margin={"t": above(fig, 56 if title else 36)})


def ticks(words: Sequence[str]) -> dict[str, object]:
    return {
        "tickmode": "array",
        "tickvals": list(range(len(words))),
        "ticktext": [label(w, 8) for w in words],
        "ticks": "",
    }
