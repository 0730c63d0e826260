"""The roofline of a machine: the most FLOP/s it can do for so many FLOPs a byte, and what lies under it."""

import html
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from attnviz.base.words import _
from attnviz.figures.byte_axes import titled
from attnviz.figures.theme import THEORY, Figure, layout


@dataclass(frozen=True)
class RoofPoints:
    """Points of one kind, each with a label, and how they look."""

    name: str
    place: str  #: where a label stands, as Plotly names it
    symbol: str
    colour: str
    intensities: Sequence[float]  #: FLOPs a byte
    speeds: Sequence[float]  #: FLOP/s
    labels: Sequence[str]


def under_roof(peak: float, bandwidth: float, kinds: Sequence[RoofPoints], x_title: str) -> Figure:
    """FLOP/s over FLOPs a byte, both logarithmic; the dotted line is where reading takes as long as computing."""
    ridge = peak / bandwidth
    ends = [ridge, *(x for kind in kinds for x in kind.intensities)]
    x = np.sort(np.append(np.geomspace(min(ends) / 2, max(ends) * 3, 80), ridge))
    roof = go.Scatter(
        x=x,
        y=np.minimum(peak, bandwidth * x) / 1e9,
        mode="lines",
        name=_("the most this machine can do"),
        line={"color": THEORY, "width": 2.5},
        hovertemplate="%{x:.3g}: %{y:,.4g} GFLOP/s<extra></extra>",
    )
    points = [
        go.Scatter(
            x=list(kind.intensities),
            y=[speed / 1e9 for speed in kind.speeds],
            mode="markers+text",
            name=kind.name,
            text=[html.escape(label) for label in kind.labels],
            textposition=kind.place,
            textfont={"size": 11},
            marker={"size": 10, "color": kind.colour, "symbol": kind.symbol},
            hovertemplate="%{text}: %{x:.3g} FLOP/byte, %{y:,.4g} GFLOP/s<extra>" + kind.name + "</extra>",
            cliponaxis=False,
        )
        for kind in kinds
    ]
    ends_y = [min(peak, bandwidth * min(x)), peak]
    look = {
        "showlegend": True,
        "xaxis": {"title": titled(x_title), **_powers(min(x), max(x))},
        "yaxis": {"title": titled(_("GFLOP/s")), **_powers(*ends_y)},
        "shapes": [
            {"type": "line", "x0": ridge, "x1": ridge, "xref": "x", "y0": 0, "y1": 1, "yref": "y domain"}
            | {"line": {"color": THEORY, "width": 1, "dash": "dot"}}
        ],
    }
    return layout(go.Figure([roof, *points], look), height=380)


def _powers(low: float, high: float) -> dict[str, object]:
    """A logarithmic axis: powers of ten, and twice and five times them where there are few."""
    return {"type": "log", "dtick": 1 if high > 1000 * low else "D2", "tickformat": ","}
