"""Scores over the distance, and words in another order."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from attnviz.base.words import _
from attnviz.figures import heatmap
from attnviz.figures.chart import (
    BARE,
    POWERS,
    THIN_BAR,
    axis,
    band,
    bars,
    cells,
    chart,
    line,
    mark_y,
    note,
    points,
)
from attnviz.figures.theme import ALTERNATIVE, RAW, SCALED, SIGNED, THEORY, Figure, add_alpha


def draw_named_level(y: float, name: str, colour: str, width: float) -> dict[str, Any]:
    """A dashed line at height `y` of a log axis, with its name: marks and notes of a chart."""
    style = {"font": {"size": 11, "color": colour}, "xanchor": "left", "yanchor": "bottom"}
    return {"marks": [mark_y(y, colour, width=width)], "notes": [note(0, float(np.log10(y)), name, **style)]}


def position_map(scores: np.ndarray) -> Figure:
    """Heatmap of scores (n, n): queries in rows, colours centred on 0."""
    names = [str(i) for i in range(len(scores))]
    return heatmap.matrix(
        scores,
        names,
        names,
        "scores",
        row_title=_("position of the query"),
        col_title=_("position of the key"),
        numbers=False,
        height=400,
        value_title=_("score"),
        labels_that_fit=9,
    )


def over_distance(
    distance: np.ndarray,
    mean: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    others: Sequence[tuple[str, np.ndarray]] = (),
    stairs: bool = False,
) -> Figure:
    """The score at each distance, with a band from lowest to highest; `others` are further heads, thin."""
    shape = "hvh" if stairs else "linear"
    series = [
        line(distance, y, width=1, colour=THEORY, shape=shape, opacity=0.55, showlegend=False, hover=format_hover(name))
        for name, y in others
    ]
    if float((high - low).max()) > 1e-9:
        series.append(band(distance, low, high, add_alpha(SCALED, 0.2), name=_("lowest to highest")))
    return chart(
        [*series, line(distance, mean, _("mean"), SCALED, shape=shape, hover=format_hover(""))],
        axis(_("distance: key minus query"), zeroline=False),
        axis(_("score")),
        height=330,
        here=0,
    )


def format_hover(name: str) -> str:
    """Hover text of a score over the distance."""
    return "%{x}: %{y:.4g}<extra>" + name + "</extra>"


def encoding(values: np.ndarray) -> Figure:
    """Heatmap of the vectors (n, D): positions in rows, dimensions in columns."""
    top, hover = float(np.abs(values).max()) or 1.0, _("position %{y}, dimension %{x}: %{z:.4f}")
    return chart(
        [cells(values.astype(np.float32), SIGNED, -top, top, bar=THIN_BAR | {"len": 0.9}, hover=hover)],
        axis(_("dimension"), **BARE),
        axis(_("position"), autorange="reversed", **BARE),
        height=330,
    )


def wavelengths(values: np.ndarray, n: int) -> Figure:
    """Positions that each pair takes for one turn, on a log axis, and the number of positions in the picture."""
    hover = _("pair %{x}: one turn in %{y:,.4g} positions")
    return chart(
        [line(np.arange(len(values)), values, None, SCALED, width=2, dots=5, showlegend=False, hover=hover)],
        axis(_("pair"), zeroline=False),
        axis(_("positions for one turn"), **POWERS),
        height=330,
        **draw_named_level(n, _("{n} positions").format(n=n), RAW, 1.5),
    )


def slopes(values: np.ndarray, head: int) -> Figure:
    """ALiBi's slope of every head, on a log axis; the chosen one stands out."""
    colours = [ALTERNATIVE if i == head else SCALED for i in range(len(values))]
    flat, hover = {"line": {"width": 0}}, _("head %{x}: %{y:.4g} for each position of distance")
    return chart(
        [bars(np.arange(len(values)), values, None, colours, marker=flat, hover=hover)],
        axis(_("head"), dtick=1 if len(values) <= 16 else 8),
        axis(_("slope"), **POWERS),
        height=330,
    )


# How much the outputs change when words change places, for every way in which positions come in.
FLOOR = 1e-17  #: drawn in place of an exact 0 on the log axis


def changes(kinds: Sequence[str], free: np.ndarray, causal: np.ndarray, rounding: float = 1e-9) -> Figure:
    """One row a kind: the largest change of an output without a mask, and with a causal one, on a log axis."""
    both = ((_("no mask"), free, SCALED, "circle"), (_("causal mask"), causal, RAW, "diamond"))
    style: dict[str, Any] = {"size": 12, "hover": "%{y}: %{customdata:.3g}"}
    return chart(
        [
            points(np.maximum(values, FLOOR), list(kinds), name, colour, symbol=symbol, customdata=values, **style)
            for name, values, colour, symbol in both
        ],
        axis(_("largest change of an output"), **POWERS | {"range": [-17.3, 1.6], "dtick": 4}),
        {"autorange": "reversed", "showgrid": True, "type": "category"},
        height=330,
        here=rounding,
    )
