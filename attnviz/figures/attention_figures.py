"""Figures that pages and notebooks share: weights, token probabilities, maps of heads, patches of a picture."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attnviz.base.words import _
from attnviz.figures import chart
from attnviz.figures.chart import BARE, THIN_BAR, Panel, Series, axis, cells, panels, points
from attnviz.figures.heatmap import masked_legend, matrix, token_axis
from attnviz.figures.theme import ROLES, SCALED, SIGNED, WEIGHTS, Figure

GLOW = "#FFA614"  #: light over the patches of a picture, as on the page about pictures


def bars(
    names: Sequence[str],
    values: Sequence[float],
    second_values: Sequence[float] | None = None,
    *,
    labels: tuple[str, str] = ("", ""),
) -> Figure:
    """Bars of probabilities by token, the first on top; `second_values` are drawn beside them, for before and after."""
    series = (
        ((values, ROLES["reference"]), (second_values, ROLES["changed"]))
        if second_values is not None
        else ((values, SCALED),)
    )
    top = max([0.05, *values, *(second_values or ())])
    return chart.chart(
        [
            chart.bars(
                list(shares),
                list(range(len(names))),
                name,
                colour,
                across=True,
                numbers=".1%",
                hover="%{y}: %{x:.4f}<extra></extra>",
            )
            for (shares, colour), name in zip(series, labels, strict=False)
        ],
        axis(_("probability"), range=[0, min(1.15, top * 1.2)], tickformat=".0%", rangemode="tozero"),
        token_axis(names, longest=24, autorange="reversed", showgrid=False),
        height=60 + (34 if second_values is not None else 26) * len(names),
        barmode="group",
        showlegend=second_values is not None,
        bargap=0.25,
    )


def side_by_side(
    parts: Sequence[tuple[str, np.ndarray]],
    rows: Sequence[str],
    cols: Sequence[str],
    title: str | None = None,
    repeat_rows: bool = True,
) -> Figure:
    """Matrices of weights side by side on one scale from 0 to 1; `parts` are (title, weights (Q, K)).

    `repeat_rows=False` labels the rows of the first only, which leaves more room for the numbers.
    """
    across, down = (compact_token_axis(tokens) | BARE | {"constrain": "domain"} for tokens in (cols, rows))
    fig = panels(
        [
            Panel(
                matrix(values, rows, cols, numbers=len(rows) <= 5, bar=i == len(parts) - 1).data,
                across,
                down
                | {
                    "autorange": "reversed",
                    "scaleanchor": f"x{i + 1 if i else ''}",
                    "showticklabels": repeat_rows or i == 0,
                },
            )
            for i, (_name, values) in enumerate(parts)
        ],
        len(parts),
        spacing={"horizontal_spacing": 0.2 if repeat_rows else 0.04},
        titles=[name for name, _values in parts] if len(parts) > 1 else None,
        height=int(np.clip(120 + 30 * len(rows), 240, 460)),
        title=title,
        top=56 if title else 36,
    )
    beside = {"orientation": "v", "len": 0.9, "x": 1.02, "xanchor": "left", "y": 0.5, "yanchor": "middle"}
    fig.update_traces(colorbar=beside | {"title": {"side": "right"}}, selector={"type": "heatmap"})  # names are below
    if any(not np.isfinite(values).all() for _name, values in parts):
        masked_legend(fig, _("masked"))
    return fig


def compact_token_axis(tokens: Sequence[str]) -> dict[str, Any]:
    """An axis of words in little room."""
    return token_axis(tokens, longest=8, ticks="")


def head_maps(grids: Mapping[str, np.ndarray], layers: Sequence[int] | None = None, signed: bool = False) -> Figure:
    """Maps (layers, heads) side by side, the first layer at the bottom, all on one scale.

    The scale goes from 0 to 1, or with `signed` is centred on 0. `layers` None: numbered from 0.
    """
    rows = list(range(len(next(iter(grids.values()))))) if layers is None else list(layers)
    most = max((float(np.nanmax(np.abs(grid), initial=0.0)) for grid in grids.values()), default=0.0) or 1.0
    low, high, scale = (-most, most, SIGNED) if signed else (0.0, 1.0, WEIGHTS)
    hover = _("layer {layer}, head {head}").format(layer="%{y}", head="%{x}") + "<br><b>%{z:.4f}</b><extra></extra>"
    return panels(
        [
            Panel(
                [
                    cells(
                        np.asarray(grid, np.float32),
                        None,
                        coloraxis="coloraxis",
                        y=[str(layer) for layer in rows],
                        x=[str(head) for head in range(np.shape(grid)[1])],
                        hoverongaps=False,
                        gap=1,
                        hover=hover,
                        name=name,
                    )
                ],
                axis(_("head"), type="category"),
                axis(None if number else _("layer"), type="category"),
            )
            for number, (name, grid) in enumerate(grids.items())
        ],
        len(grids),
        spacing={"shared_yaxes": True},
        titles=[name.replace("_", " ") for name in grids],
        height=int(np.clip(110 + 16 * len(rows), 240, 620)),
        title=" ",
        coloraxis={"colorscale": scale, "colorbar": THIN_BAR, "cmin": low, "cmax": high},
    )


def hover_points(x: np.ndarray, y: np.ndarray, data: np.ndarray, text: str, size: int) -> Series:
    """Invisible points for hovering, one in the middle of each patch; `text` is a template over columns of `data`."""
    return points(x, y, size=size, marker={"opacity": 0}, customdata=data, hover=text, showlegend=False)


def picture_axes(shape: tuple[int, ...], number: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Axes of the `number`-th panel, counted from 1, for a picture (height, width): no ticks, the first row above."""
    bare = BARE | {"showticklabels": False, "ticks": "", "constrain": "domain"}
    anchor = f"x{number if number > 1 else ''}"
    across, down = [-0.5, shape[1] - 0.5], [shape[0] - 0.5, -0.5]
    return bare | {"range": across}, bare | {"range": down, "scaleanchor": anchor}
