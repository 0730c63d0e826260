"""Figures for a paper: one head as a heatmap with its pins or as token lines, and all heads as a mosaic."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from attnviz.figures.export import wide
from attnviz.figures.heatmap import ColourScaleKind, label, masked_cells, matrix
from attnviz.figures.theme import K_VERMILION, MASKED, Q_BLUE, WEIGHTS, Figure, layout
from attnviz.words import _

MOST_LINES = 600
EVERY_LABEL = 300  # most tokens along a side for which an exported figure grows, so that every label is written


def head(
    values: np.ndarray,
    rows: Sequence[str],
    cols: Sequence[str],
    hidden: np.ndarray | None = None,
    *,
    kind: ColourScaleKind = "weights",
    full_range: bool = True,
    root: bool = False,
    pinned_rows: Sequence[int] = (),
    pinned_cols: Sequence[int] = (),
    breaks: tuple[Sequence[int], Sequence[int]] = ((), ()),
    title: str | None = None,
    value_title: str | None = None,
) -> Figure:
    """Queries down, keys across; pinned queries framed in blue, pinned keys in vermilion.

    The figure grows with the number of tokens, so that each is written in full. `breaks`: rows and
    columns where a second sentence begins.
    """
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
        root=root,
        value_title=value_title,
        height=_side(len(rows), 320) + 60,
        labels_that_fit=EVERY_LABEL,
        longest=32,
    )
    named = 7.5 * min(32, max((wide(token) for token in rows), default=1))
    fig.update_layout(width=int(max(600, _side(len(cols), 320) + named + 190)))
    n_rows, n_cols = np.shape(values)
    for at in breaks[0]:
        fig.add_hline(y=at - 0.5, line={"color": MASKED, "width": 2, "dash": "dot"})
    for at in breaks[1]:
        fig.add_vline(x=at - 0.5, line={"color": MASKED, "width": 2, "dash": "dot"})
    frame = {"type": "rect", "xref": "x", "yref": "y", "fillcolor": "rgba(0,0,0,0)"}
    for row in pinned_rows:
        line = {"color": Q_BLUE, "width": 2.5}
        fig.add_shape(x0=-0.5, x1=n_cols - 0.5, y0=row - 0.5, y1=row + 0.5, line=line, **frame)
    for col in pinned_cols:
        line = {"color": K_VERMILION, "width": 2.5}
        fig.add_shape(x0=col - 0.5, x1=col + 0.5, y0=-0.5, y1=n_rows - 0.5, line=line, **frame)
    return fig


def _side(count: int, least: int) -> int:
    """Pixels along one side of a matrix of `count` tokens: enough to write each, up to EVERY_LABEL tokens."""
    if count > EVERY_LABEL:
        return 1200
    return max(least, min(26 * count, 760) if count <= 40 else 14 * count)


def lines(
    weights: np.ndarray,
    rows: Sequence[str],
    cols: Sequence[str],
    *,
    only_rows: Sequence[int] = (),
    only_cols: Sequence[int] = (),
    title: str | None = None,
) -> Figure:
    """Queries on the left, keys on the right, and a line for each of the 600 largest weights, bolder for larger ones.

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
    most = max(len(rows), len(cols))
    _token_column(fig, rows, -0.03, "right", Q_BLUE, most)
    _token_column(fig, cols, 1.03, "left", K_VERMILION, most)
    fig.update_xaxes(visible=False, range=[-0.6, 1.6])
    fig.update_yaxes(visible=False, range=[most - 0.4, -0.9])
    fig.update_layout(showlegend=False)
    return layout(fig, title, height=90 + _side(most, 230))


def _token_column(fig: Figure, tokens: Sequence[str], x: float, side: str, colour: str, most: int) -> None:
    position = "middle left" if side == "right" else "middle right"
    step = max(1, -(-most // EVERY_LABEL))
    fig.add_trace(
        go.Scatter(
            x=[x] * len(tokens),
            y=list(range(len(tokens))),
            text=[label(token, 26) if at % step == 0 else "" for at, token in enumerate(tokens)],
            mode="text",
            textposition=position,
            textfont={"color": colour, "size": 13 if most <= 40 else 10},
            hoverinfo="skip",
        )
    )


def mosaic(thumbnails: np.ndarray, heads: Sequence[int], title: str | None = None) -> Figure:
    """All heads of all layers as one picture: `thumbnails` (N, q, k) from 0 to 1, NaN where masked.

    `heads` holds the number of heads in each layer; they add up to N.
    """
    widest, (rows, cols) = max(heads), thumbnails.shape[1:]
    gap = max(1, rows // 12)
    board = np.full((len(heads) * (rows + gap), widest * (cols + gap)), np.nan, np.float32)
    start = 0
    for layer, count in enumerate(heads):
        for number in range(count):
            top, left = layer * (rows + gap), number * (cols + gap)
            board[top : top + rows, left : left + cols] = thumbnails[start + number]
        start += count
    outside = np.ones(board.shape, bool)
    for layer, count in enumerate(heads):
        for number in range(count):
            top, left = layer * (rows + gap), number * (cols + gap)
            outside[top : top + rows, left : left + cols] = False
    fig = go.Figure(masked_cells(np.isnan(board) & ~outside))
    bar = {"title": {"text": _("weight"), "side": "right"}, "thickness": 12, "outlinewidth": 0}
    scale = {"colorscale": WEIGHTS, "zmin": 0, "zmax": 1, "colorbar": bar}
    fig.add_trace(go.Heatmap(z=board, hoverinfo="skip", hoverongaps=False, **scale))
    every = max(1, len(heads) // 16)
    fig.update_yaxes(
        autorange="reversed",
        tickvals=[i * (rows + gap) + rows / 2 for i in range(0, len(heads), every)],
        ticktext=[str(i) for i in range(0, len(heads), every)],
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
    side = float(np.clip(1200 / len(heads), 40, 90))
    fig.update_layout(width=int(max(600, 200 + side * widest * cols / rows)))
    return layout(fig, title, height=int(60 + side * len(heads)))


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
    return layout(fig, height=60 + (34 if other is not None else 26) * len(names))
