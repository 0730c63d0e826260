"""Curves of several layers over one size, both axes logarithmic, with the places where they cross."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from attnviz.figures.theme import FONT, SERIES, THEORY, Figure, layout
from attnviz.figures.title_lines import above

#: layers of one family share a colour; `DASHES` tells them apart
COLOURS = {
    "attention": SERIES[0],
    "explicit": SERIES[0],
    "fused": SERIES[0],
    "window": SERIES[0],
    "positions": SERIES[0],
    "linear": SERIES[2],
    "rnn": SERIES[5],
    "lstm": SERIES[1],
    "gru": SERIES[3],
    "conv": SERIES[4],
    "dilated": SERIES[4],
    "dense": SERIES[7],
    "mixer": SERIES[7],
}
DASHES = {"window": "dot", "fused": "dash", "dilated": "dash", "positions": "dash", "mixer": "dot"}


@dataclass(frozen=True)
class KindCurve:
    """One layer over x. `measured` draws points, and `fit` is a straight line beside them."""

    kind: str
    name: str
    x: np.ndarray
    y: np.ndarray
    measured: bool = False
    fit: np.ndarray | None = None  #: (points, 2): x and y of the fitted power law


def over(
    curves: Sequence[KindCurve],
    title: str,
    x_title: str,
    *,
    here: float | None = None,
    crossings: Sequence[tuple[float, float, str]] = (),
    unit: str = "",
    binary: bool = False,
    names: bool = True,
    height: int = 360,
) -> Figure:
    """`here` marks the chosen x; `crossings` are (x, y, what is said on hover); `binary`: y in KiB, MiB, GiB."""
    fig = go.Figure()
    for curve in curves:
        _add(fig, curve, unit, names)
    for x, y, said in crossings:
        fig.add_scatter(
            x=[x],
            y=[y],
            mode="markers",
            marker={"size": 11, "symbol": "circle-open", "color": THEORY, "line": {"width": 2}},
            hovertemplate=said + "<extra></extra>",
            showlegend=False,
        )
    if here is not None:
        fig.add_vline(x=here, line={"color": THEORY, "width": 1, "dash": "dot"})
    everything = np.concatenate([curve.x for curve in curves])
    fig.update_xaxes(type="log", title={"text": x_title, "font": {"size": 12}}, **_powers(everything))
    fig.update_yaxes(type="log", exponentformat="power", dtick=None if binary else _decades(curves, height))
    if binary:
        ticks = ["1 KiB", "16 KiB", "256 KiB", "4 MiB", "64 MiB", "1 GiB", "16 GiB"]
        fig.update_yaxes(tickvals=[1024 * 16**i for i in range(len(ticks))], ticktext=ticks, dtick=None)
    fig = layout(fig, title, height)
    fig.update_layout(
        title={"font": {"size": 14, "family": FONT}},
        legend=below(),
        margin={"t": above(fig, 34)},
    )
    fig.update_xaxes(tickfont={"size": 11}).update_yaxes(
        tickfont={"size": 11 if binary else 9}
    )  # powers grow by a fourth
    return fig


def below() -> dict[str, object]:
    """A legend at the lower edge, under the title of the x axis, however many lines it takes on a narrow screen."""
    return {"yref": "container", "y": 0, "yanchor": "bottom", "font": {"size": 11}}


def _add(fig: Figure, curve: KindCurve, unit: str, names: bool) -> None:
    colour, dash = COLOURS[curve.kind], DASHES.get(curve.kind, "solid")
    line = {"color": colour, "width": 2.2, "dash": dash}
    fig.add_scatter(
        x=curve.x,
        y=curve.y,
        name=curve.name,
        mode="lines+markers" if curve.measured else "lines",
        line={**line, "width": 1.4} if curve.measured else line,
        marker={"size": 6, "color": colour},
        legendgroup=curve.kind,
        showlegend=names,
        hovertemplate=f"%{{x:,}}: %{{y:.3s}}{unit}<extra>{curve.name}</extra>",
    )
    if curve.fit is not None:
        fig.add_scatter(
            x=curve.fit[:, 0],
            y=curve.fit[:, 1],
            mode="lines",
            line={"color": colour, "width": 5},
            opacity=0.3,
            legendgroup=curve.kind,
            showlegend=False,
            hoverinfo="skip",
        )


def _powers(x: np.ndarray) -> dict[str, list[object]]:
    """About six powers of two between the ends."""
    low, high = int(np.floor(np.log2(x.min()))), int(np.ceil(np.log2(x.max())))
    step = max(1, -(-(high - low) // 6))
    values = [2**i for i in range(low, high + 1, step)]
    return {"tickvals": list(values), "ticktext": [_short(value) for value in values]}


def _short(value: int) -> str:
    for power, name in ((30, "Gi"), (20, "Mi"), (10, "Ki")):
        if value >= 1 << power and value % (1 << power) == 0 and value >= 1 << 14:
            return f"{value >> power}{name}"
    return f"{value:,}"


def _decades(curves: Sequence[KindCurve], height: int) -> int:
    """Decades between two ticks, so that a tick has about 60 pixels."""
    values = np.concatenate([curve.y[curve.y > 0] for curve in curves])
    decades = float(np.log10(values.max() / values.min())) if len(values) else 1.0
    return max(1, math.ceil(decades / max(1, (height - 160) / 50)))
