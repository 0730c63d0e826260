"""Figures whose points are heads: a map of layers by heads, and a scatter plot of two measures."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from attnviz.base.rounding import Rounded
from attnviz.base.words import _
from attnviz.figures.chart import BARE, Series, axis, cells, chart, mark_y, note, points
from attnviz.figures.theme import MASKED, PRIMARY, SCORES, SERIES, WEIGHTS, Figure

HeadPlaces = Sequence[tuple[int, int]]
SMALLEST_PLOT = np.array([170.0, 170.0])  #: pixels of the plane in the narrowest column it is drawn in
POINT, LETTER, LINE = 4.0, 6.6, 13.0  #: pixels: a point's radius, a name's width for each letter and its height
MARK = PRIMARY[1]  #: the ring around the chosen head: readable on both pages


def pickable_map(
    values: np.ndarray,
    places: HeadPlaces,
    stderr: np.ndarray,
    *,
    title: str,
    signed: bool = False,
    chosen: int | None = None,
) -> Figure:
    """Map of heads as coloured squares, layers across and heads down; `values` and `stderr` are (N,).

    The colours go from 0 to 1, or with `signed` are centred on 0. A click selects a square: `customdata` is its index.
    `chosen` None: no square is marked.
    """
    columns, across = np.unique([layer for layer, _head in places], return_inverse=True)  # layers that have heads
    down = np.array([head for _layer, head in places])
    rows = range(int(down.max(initial=0)) + 1)
    grid = np.full((len(rows), len(columns)), np.nan, np.float32)
    grid[down, across] = values
    clear: dict[str, Any] = {"marker": {"opacity": 0.0}}
    targets = points(  # an invisible point on each square, which says its head and can be picked
        across,
        down,
        size=16,
        symbol="square",
        **clear,
        selected=clear,
        unselected=clear,
        customdata=np.arange(len(places)),
        text=[
            f"{Rounded(value):.3f}" if np.isnan(error) else f"{Rounded(value):.3f} ± {Rounded(error):.3f}"
            for value, error in zip(values, stderr, strict=True)
        ],
        mode="markers",
        hovertext=[_("layer {layer}, head {head}").format(layer=layer, head=head) for layer, head in places],
        hover="%{hovertext}<br><b>%{text}</b>",
        showlegend=False,
    )
    named = {n: str(columns[n]) for n in range(0, len(columns), max(1, -(-len(columns) // 12)))}
    return chart(
        [
            _squares(grid, signed),
            targets,
            *([] if chosen is None else [_ring(across[chosen], down[chosen], "square-open", 17)]),
        ],
        axis(_("layer"), labels=named, range=[-0.5, len(columns) - 0.5], **BARE),
        axis(_("head"), labels=rows, range=[len(rows) - 0.5, -0.5], **BARE),
        height=int(np.clip(120 + 27 * len(rows), 260, 520)),
        title=title,
        dragmode=False,
        showlegend=False,
    )


def _squares(grid: np.ndarray, signed: bool) -> Series:
    """Coloured squares (heads, layers) without hover or clicks."""
    most = float(np.nanmax(np.abs(grid), initial=0.0)) or 1.0
    low, high, colours = (-most, most, SCORES) if signed else (0.0, 1.0, WEIGHTS)
    x, y = np.arange(grid.shape[1]), np.arange(grid.shape[0])
    bar = {"thickness": 10, "outlinewidth": 0, "len": 1.0}
    return cells(grid, colours, low, high, x=x, y=y, bar=bar, gap=1, hover="")


def scatter_heads(
    x: np.ndarray,
    y: np.ndarray,
    places: HeadPlaces,
    *,
    title: str,
    x_title: str,
    y_title: str,
    chosen: int | None = None,
    named: Sequence[int] = (),
) -> Figure:
    """Scatter plot with one point a head, coloured by layer; `named` are indices of labelled heads."""
    layers = np.array([layer for layer, _head in places])
    names = [f"{layer}.{head}" for layer, head in places]
    solid, colours = {"marker": {"opacity": 1.0}}, [(0.0, SERIES[0]), (1.0, SERIES[1])]  # readable on both pages
    series = [
        points(
            x,
            y,
            None,
            layers,
            size=8,
            marker={
                "colorscale": colours,
                "line": {"width": 0.5, "color": MASKED},
                "colorbar": {"title": {"text": _("layer")}, "thickness": 10, "outlinewidth": 0},
            },
            selected=solid,
            unselected=solid,
            customdata=np.arange(len(places)),
            text=names,
            mode="markers",
            hover=_("head {name}").format(name="%{text}") + "<br>%{x:.3f}, %{y:.4f}",
            showlegend=False,
        )
    ]
    if chosen is not None and np.isfinite(x[chosen]) and np.isfinite(y[chosen]):
        series.append(_ring(x[chosen], y[chosen], "circle-open", 15))
    return chart(
        series,
        axis(x_title),
        axis(y_title, showgrid=False),  # a line would strike the names through
        height=320,
        title=title,
        marks=[mark_y(0, MASKED, dash=None)],
        notes=[
            note(x[column], y[column], names[column], xshift=right, yshift=up, font={"size": 11})
            for column, (right, up) in _free_places(x, y, named, names).items()
        ],
        dragmode=False,
        showlegend=False,
    )


def _free_places(
    x: np.ndarray, y: np.ndarray, columns: Sequence[int], names: Sequence[str]
) -> dict[int, tuple[float, float]]:
    """Offsets in pixels (right, up) from a point to its label, by index, without overlaps.

    A label with room on none of four sides is left out: hovering shows it.
    """
    finite = np.isfinite(x) & np.isfinite(y)
    if not finite.any():
        return {}
    spread = np.array([float(np.ptp(values[finite])) or 1.0 for values in (x, y)])
    points = np.stack([x, y], 1)[finite] / spread * SMALLEST_PLOT
    low, high = points.min(0), points.max(0) + np.array([-LINE, 0.5 * LINE])  # no colour bar lies above the plane
    placed: list[np.ndarray] = []
    places: dict[int, tuple[float, float]] = {}
    for column in columns:
        if not finite[column]:
            continue
        here = np.array([x[column], y[column]]) / spread * SMALLEST_PLOT
        half = np.array([LETTER * len(names[column]), LINE]) / 2
        beside = POINT + half + 2
        for side in ((0.0, beside[1]), (beside[0], 0.0), (0.0, -beside[1]), (-beside[0], 0.0)):
            middle = here + side
            over_points = (np.abs(points - middle) < half + POINT).all(1).any()
            over_names = any((np.abs(centre - middle) < 2 * half).all() for centre in placed)
            inside = (low - half < middle).all() and (middle < high + half).all()
            if inside and not over_points and not over_names:
                placed.append(middle)
                places[column] = (float(side[0]), float(side[1]))
                break
    return places


def _ring(x: float, y: float, symbol: str, size: int) -> Series:
    """Ring around the chosen head, without hover."""
    thick = {"line": {"width": 3, "color": MARK}}
    return points([x], [y], None, MARK, size=size, symbol=symbol, marker=thick, hover="", showlegend=False)
