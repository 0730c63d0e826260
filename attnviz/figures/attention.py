"""One head as it goes into a paper: heatmap with its pins, token lines, and the mosaic of all heads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from attnviz.figures.heatmap import Kind, label, matrix
from attnviz.figures.theme import K_VERMILION, MASKED, Q_BLUE, WEIGHTS, Figure, layout
from attnviz.words import _

MOST_LINES = 600


def head(
    values: np.ndarray,
    rows: Sequence[str],
    cols: Sequence[str],
    hidden: np.ndarray | None = None,
    *,
    kind: Kind = "weights",
    full_range: bool = True,
    pinned_rows: Sequence[int] = (),
    pinned_cols: Sequence[int] = (),
    title: str | None = None,
    value_title: str | None = None,
) -> Figure:
    """Queries down, keys across; pinned queries framed in blue, pinned keys in vermilion."""
    fig = matrix(
        values,
        rows,
        cols,
        kind,
        hidden,
        row_title=_("query"),
        col_title=_("key"),
        title=title,
        full_range=full_range,
        value_title=value_title,
        height=int(np.clip(140 + 24 * len(rows), 320, 900)),
    )
    n_rows, n_cols = np.shape(values)
    frame = {"type": "rect", "xref": "x", "yref": "y", "fillcolor": "rgba(0,0,0,0)"}
    for row in pinned_rows:
        line = {"color": Q_BLUE, "width": 2.5}
        fig.add_shape(x0=-0.5, x1=n_cols - 0.5, y0=row - 0.5, y1=row + 0.5, line=line, **frame)
    for col in pinned_cols:
        line = {"color": K_VERMILION, "width": 2.5}
        fig.add_shape(x0=col - 0.5, x1=col + 0.5, y0=-0.5, y1=n_rows - 0.5, line=line, **frame)
    return fig


def lines(
    weights: np.ndarray,
    rows: Sequence[str],
    cols: Sequence[str],
    *,
    only_rows: Sequence[int] = (),
    only_cols: Sequence[int] = (),
    title: str | None = None,
) -> Figure:
    """Queries on the left, keys on the right, a line as strong as the weight; the strongest 600 of them.

    With pins, only the lines of pinned queries and keys.
    """
    weights = np.nan_to_num(np.asarray(weights, np.float64))
    wanted = np.ones(weights.shape, bool)
    if only_rows or only_cols:
        wanted[:] = False
        wanted[list(only_rows), :] = True
        wanted[:, list(only_cols)] = True
    strength = np.where(wanted, weights, 0.0)
    order = np.argsort(strength, axis=None)[::-1][:MOST_LINES]
    fig = go.Figure()
    for level in range(9, -1, -1):  # ten strengths, one trace each: a line each would be slow to draw
        low, high = level / 10, (level + 1) / 10 if level < 9 else np.inf
        cells = [divmod(int(c), weights.shape[1]) for c in order if max(low, 0.005) <= strength.flat[c] < high]
        if not cells:
            continue
        x = np.array([(0.0, 1.0, np.nan)] * len(cells)).ravel()
        y = np.array([(q, k, np.nan) for q, k in cells], np.float64).ravel()
        line = {"color": Q_BLUE, "width": 0.5 + 3.5 * (level + 0.5) / 10}
        fig.add_trace(go.Scatter(x=x, y=y, mode="lines", line=line, opacity=0.12 + 0.8 * level / 10, hoverinfo="skip"))
    _token_column(fig, rows, -0.03, "right", Q_BLUE)
    _token_column(fig, cols, 1.03, "left", K_VERMILION)
    fig.update_xaxes(visible=False, range=[-0.6, 1.6])
    fig.update_yaxes(visible=False, range=[max(len(rows), len(cols)) - 0.4, -0.9])
    fig.update_layout(showlegend=False)
    return layout(fig, title, height=int(np.clip(90 + 22 * max(len(rows), len(cols)), 320, 1600)))


def _token_column(fig: Figure, tokens: Sequence[str], x: float, side: str, colour: str) -> None:
    position = "middle left" if side == "right" else "middle right"
    fig.add_trace(
        go.Scatter(
            x=[x] * len(tokens),
            y=list(range(len(tokens))),
            text=[label(token, 22) for token in tokens],
            mode="text",
            textposition=position,
            textfont={"color": colour},
            hoverinfo="skip",
        )
    )


def mosaic(
    thumbnails: np.ndarray, heads: Sequence[int], title: str | None = None, layer_ids: Sequence[int] | None = None
) -> Figure:
    """All heads of all layers as one picture: `thumbnails` (N, q, k) with 0 to 1, NaN where masked."""
    widest, (rows, cols) = max(heads), thumbnails.shape[1:]
    gap = max(1, rows // 12)
    board = np.full((len(heads) * (rows + gap), widest * (cols + gap)), np.nan, np.float32)
    start = 0
    for layer, count in enumerate(heads):
        for number in range(count):
            top, left = layer * (rows + gap), number * (cols + gap)
            board[top : top + rows, left : left + cols] = thumbnails[start + number]
        start += count
    fig = go.Figure(go.Heatmap(z=board, colorscale=WEIGHTS, zmin=0, zmax=1, hoverinfo="skip", hoverongaps=False))
    fig.update_traces(colorbar={"title": {"text": _("weight"), "side": "right"}, "thickness": 12, "outlinewidth": 0})
    ids = list(layer_ids or range(len(heads)))
    every = max(1, len(heads) // 16)
    fig.update_yaxes(
        autorange="reversed",
        tickvals=[i * (rows + gap) + rows / 2 for i in range(0, len(heads), every)],
        ticktext=[str(i) for i in ids[::every]],
        title=_("layer"),
        showgrid=False,
        zeroline=False,
        scaleanchor="x",
        constrain="domain",
    )
    fig.update_xaxes(
        tickvals=[i * (cols + gap) + cols / 2 for i in range(widest)],
        ticktext=[str(i) for i in range(widest)],
        title=_("head"),
        showgrid=False,
        zeroline=False,
        side="top",
        constrain="domain",
    )
    return layout(fig, title, height=int(np.clip(120 + 700 * len(heads) / max(widest, 12), 360, 1400)))


def bars(
    names: Sequence[str],
    values: Sequence[float],
    other: Sequence[float] | None = None,
    *,
    labels: tuple[str, str] = ("", ""),
    title: str | None = None,
) -> Figure:
    """Shares by token, largest on top; `other` beside each, for before and after."""
    fig = go.Figure()
    y = list(range(len(names)))
    series = (
        [(values, labels[0], Q_BLUE)] if other is None else [(values, labels[0], MASKED), (other, labels[1], Q_BLUE)]
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
    return layout(fig, title, height=60 + (34 if other is not None else 26) * len(names) + (30 if title else 0))
