"""What several pages and notebooks show of attention: weights, probabilities of tokens, heads, patches of a picture."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from attnviz.base.rounding import Rounded
from attnviz.base.words import _
from attnviz.figures.heatmap import label, masked_legend, matrix
from attnviz.figures.theme import MASKED, SCALED, SIGNED, WEIGHTS, Figure, layout
from attnviz.figures.title_lines import above

GLOW = "#FFA614"  #: light over the patches of a picture, as on the page about pictures


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
                text=[f"{Rounded(share):.1%}" for share in shares],
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
        for trace in matrix(values, rows, cols, numbers=len(rows) <= 5).data:
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


def head_maps(grids: Mapping[str, np.ndarray], layers: Sequence[int] | None = None, signed: bool = False) -> Figure:
    """One map (layers, heads) beside the other, the first layer at the bottom, all on one scale.

    The scale goes from 0 to 1, or with `signed` as far below 0 as above it.
    """
    rows = list(range(len(next(iter(grids.values()))))) if layers is None else list(layers)
    fig = make_subplots(1, len(grids), subplot_titles=[name.replace("_", " ") for name in grids], shared_yaxes=True)
    most = max((float(np.nanmax(np.abs(grid), initial=0.0)) for grid in grids.values()), default=0.0) or 1.0
    for number, (name, grid) in enumerate(grids.items(), 1):
        fig.add_trace(
            go.Heatmap(
                z=np.asarray(grid, np.float32),
                y=[str(layer) for layer in rows],
                x=[str(head) for head in range(np.shape(grid)[1])],
                coloraxis="coloraxis",
                hoverongaps=False,
                xgap=1,
                ygap=1,
                name=name,
                hovertemplate=_("layer {layer}, head {head}").format(layer="%{y}", head="%{x}")
                + "<br><b>%{z:.4f}</b><extra></extra>",
            ),
            row=1,
            col=number,
        )
    bounds = {"cmin": -most, "cmax": most} if signed else {"cmin": 0.0, "cmax": 1.0}
    scale = SIGNED if signed else WEIGHTS
    fig.update_layout(coloraxis={"colorscale": scale, "colorbar": {"thickness": 12, "outlinewidth": 0}, **bounds})
    fig.update_xaxes(title_text=_("head"), type="category")
    fig.update_yaxes(type="category")
    fig.update_yaxes(title_text=_("layer"), col=1)
    return layout(fig, " ", int(np.clip(110 + 16 * len(rows), 240, 620)))


def hover_points(x: np.ndarray, y: np.ndarray, data: np.ndarray, text: str, size: int) -> go.Scatter:
    """Points that are not seen, in the middle of each patch; `text` names columns of `data`."""
    return go.Scatter(
        x=x,
        y=y,
        mode="markers",
        marker={"size": size, "opacity": 0},
        customdata=data,
        showlegend=False,
        hovertemplate=text + "<extra></extra>",
    )


def picture_axes(fig: Figure, shape: tuple[int, ...], number: int, place: dict[str, Any]) -> None:
    """Axes of the `number`-th panel, counted from 1, for a picture (height, width): no ticks, the first row above."""
    axis = {"showgrid": False, "zeroline": False, "showticklabels": False, "ticks": "", "constrain": "domain"}
    anchor = f"x{number if number > 1 else ''}"
    fig.update_xaxes(**axis, range=[-0.5, shape[1] - 0.5], **place)
    fig.update_yaxes(**axis, range=[shape[0] - 0.5, -0.5], scaleanchor=anchor, **place)
