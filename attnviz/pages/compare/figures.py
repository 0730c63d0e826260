"""Curves of several layers over one size, both axes logarithmic, with the places where they cross."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from attnviz.base.words import _
from attnviz.figures.theme import FONT, SERIES, THEORY, WEIGHTS, Figure, layout
from attnviz.figures.title_lines import above, below

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
    "dense": SERIES[6],
    "mixer": SERIES[6],
}
DASHES = {"window": "dot", "fused": "dash", "dilated": "dash", "positions": "dash", "mixer": "dot"}


def kind_names() -> dict[str, str]:
    """Id to name. LSTM and GRU are names in every language."""
    return {
        "attention": _("self-attention"),
        "explicit": _("attention, weights built"),
        "fused": _("attention, fused"),
        "window": _("windowed attention"),
        "linear": _("linear attention"),
        "rnn": _("plain recurrence"),
        "lstm": "LSTM",
        "gru": "GRU",
        "conv": _("convolution"),
        "dilated": _("dilated convolution"),
        "dense": _("all to all, nothing shared"),
        "mixer": _("n × n learned weights"),
        "positions": _("attention and learned places"),
    }


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
    height: int = 360,
) -> Figure:
    """`here` marks the chosen x; `crossings` are (x, y, the words on hover); `binary`: y in KiB, MiB, GiB."""
    rings = [
        go.Scatter(
            x=[x],
            y=[y],
            mode="markers",
            marker={"size": 11, "symbol": "circle-open", "color": THEORY, "line": {"width": 2}},
            hovertemplate=text + "<extra></extra>",
            showlegend=False,
        )
        for x, y, text in crossings
    ]
    x_axis = _powers(np.concatenate([curve.x for curve in curves])) | {"tickfont": {"size": 11}}
    y_axis: dict[str, Any] = {"dtick": _decades(curves, height), "tickfont": {"size": 9}}  # powers grow by a fourth
    if binary:
        ticks = ["1 KiB", "16 KiB", "256 KiB", "4 MiB", "64 MiB", "1 GiB", "16 GiB"]
        y_axis = {"tickvals": [1024 * 16**i for i in range(len(ticks))], "ticktext": ticks, "tickfont": {"size": 11}}
    look = {
        "xaxis": {"type": "log", "title": {"text": x_title, "font": {"size": 12}}, **x_axis},
        "yaxis": {"type": "log", "exponentformat": "power", **y_axis},
    }
    fig = go.Figure([*(trace for curve in curves for trace in _traces(curve, unit)), *rings], look)
    if here is not None:
        fig.add_vline(x=here, line={"color": THEORY, "width": 1, "dash": "dot"})
    layout(fig, title, height)
    return fig.update_layout(title_font={"size": 14, "family": FONT}, legend=below(), margin_t=above(fig, 34))


def _traces(curve: KindCurve, unit: str) -> list[go.Scatter]:
    """The curve, and what was fitted to it."""
    common = {"legendgroup": curve.kind}
    drawn = go.Scatter(
        x=curve.x,
        y=curve.y,
        name=curve.name,
        mode="lines+markers" if curve.measured else "lines",
        line=_line(curve.kind) | ({"width": 1.4} if curve.measured else {}),
        marker={"size": 6, "color": COLOURS[curve.kind]},
        hovertemplate=f"%{{x:,}}: %{{y:.3s}}{unit}<extra>{curve.name}</extra>",
        showlegend=True,
        **common,
    )
    if curve.fit is None:
        return [drawn]
    fitted = go.Scatter(
        x=curve.fit[:, 0],
        y=curve.fit[:, 1],
        mode="lines",
        line={"color": COLOURS[curve.kind], "width": 5},
        opacity=0.3,
        showlegend=False,
        hoverinfo="skip",
        **common,
    )
    return [drawn, fitted]


def _line(kind: str) -> dict[str, Any]:
    return {"color": COLOURS[kind], "width": 2.2, "dash": DASHES.get(kind, "solid")}


def _powers(x: np.ndarray) -> dict[str, Any]:
    """About six powers of two between the ends."""
    low, high = int(np.floor(np.log2(x.min()))), int(np.ceil(np.log2(x.max())))
    step = max(1, -(-(high - low) // 6))
    values = [2**i for i in range(low, high + 1, step)]
    return {"tickvals": [*values], "ticktext": [_short(value) for value in values]}


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


def matrices(names: Sequence[str], rows: Sequence[tuple[str, Sequence[np.ndarray]]]) -> Figure:
    """A column for each layer, a row for each input; every column is coloured from 0 to its own largest cell."""
    fig = make_subplots(
        len(rows),
        len(names),
        column_titles=list(names),
        horizontal_spacing=0.025,
        vertical_spacing=0.05,
    )
    tops = [max(float(kept[column].max()) for _name, kept in rows) for column in range(len(names))]
    for row, (title, stack) in enumerate(rows, 1):
        fig.update_yaxes(title={"text": title, "font": {"size": 12}}, row=row, col=1)
        for column, norms in enumerate(stack, 1):
            fig.add_heatmap(
                z=(norms / (tops[column - 1] or 1)).astype("float32"),
                customdata=norms,
                coloraxis="coloraxis",
                hovertemplate=title + ": " + _("output %{y}, input %{x}: %{customdata:.3g}") + "<extra></extra>",
                row=row,
                col=column,
            )
    bare = {"showticklabels": False, "ticks": "", "showgrid": False, "constrain": "domain"}
    fig.update_xaxes(**bare).update_yaxes(**bare, autorange="reversed")
    fig.update_annotations(font_size=12)
    layout(fig, height=400)
    bar = {
        "title": "",
        "thickness": 10,
        "tickvals": [0, 1],
        "ticktext": ["0", _("largest")],
        "len": 0.5,
        "orientation": "h",
        "y": -0.03,
        "yanchor": "top",
    }
    colours = {"colorscale": WEIGHTS, "cmin": 0, "cmax": 1, "colorbar": bar}
    return fig.update_layout(coloraxis=colours, margin={"t": above(fig, 26), "l": 4})


def missing(heads: np.ndarray, lines: Sequence[tuple[str, np.ndarray]], average: float) -> Figure:
    """What a number of heads misses of a convolution; `average` is one head that looks everywhere evenly."""
    curves = [
        go.Scatter(
            x=heads,
            y=errors,
            name=name,
            mode="lines+markers",
            line={"color": SERIES[number], "width": 2.2, "dash": "dash" if number else "solid"},
            marker={"size": 7},
            hovertemplate=_("%{x} heads miss %{y:.1%}") + f"<extra>{name}</extra>",
        )
        for number, (name, errors) in enumerate(lines)
    ]
    name = _("one head, the average of all places")
    point = go.Scatter(
        x=[1],
        y=[average],
        name=name,
        mode="markers",
        marker={"size": 12, "symbol": "diamond", "color": SERIES[2]},
        hovertemplate=f"%{{y:.1%}}<extra>{name}</extra>",
    )
    small = {"size": 12}
    look = {
        "xaxis": {"title": {"text": _("heads"), "font": small}, "dtick": max(1, len(heads) // 8)},
        "yaxis": {"title": {"text": _("missed"), "font": small}, "tickformat": ".0%", "range": [0, 1.04]},
    }
    return layout(go.Figure([*curves, point], look), height=300).update_layout(legend=below(), margin={"t": 12})


FLOOR = 1e-12  #: a gradient of exactly 0, or below this, is drawn here


def by_distance(lines: Sequence[tuple[str, str, np.ndarray]], title: str) -> Figure:
    """`lines`: (kind, name, norms by position, the last position last). Distance 0 is the last input itself."""
    curves = [
        go.Scatter(
            x=np.arange(len(norms)),
            y=norms[::-1].clip(FLOOR),
            customdata=norms[::-1],
            name=name,
            mode="lines",
            line=_line(kind),
            hovertemplate=_("%{x} tokens back: %{customdata:.3g}") + f"<extra>{name}</extra>",
        )
        for kind, name, norms in lines
    ]
    x_axis = {"title": {"text": _("distance from the last token"), "font": {"size": 12}}, "rangemode": "tozero"}
    y_axis = {
        "type": "log",
        "range": [np.log10(FLOOR) - 0.3, 1.5],
        "exponentformat": "power",
        "tickvals": [1e-12, 1e-9, 1e-6, 1e-3, 1],
        "ticktext": ["≤ 10⁻¹²", "10⁻⁹", "10⁻⁶", "10⁻³", "1"],
    }
    return _finished(go.Figure(curves, {"xaxis": x_axis, "yaxis": y_axis}), title, 340)


def by_step(lines: Sequence[tuple[str, str, np.ndarray]], steps: int, chance: float, title: str) -> Figure:
    """`lines`: (kind, name, share of labels right at each step so far); `chance` is the share of guessing."""
    curves = [
        go.Scatter(
            x=np.arange(1, len(right) + 1),
            y=smoothed(right),
            name=name,
            mode="lines",
            line=_line(kind),
            hovertemplate=_("step %{x}: %{y:.1%}") + f"<extra>{name}</extra>",
        )
        for kind, name, right in lines
    ]
    x_axis = {"title": {"text": _("step"), "font": {"size": 12}}, "range": [0, max(1, steps)]}
    fig = go.Figure(curves, {"xaxis": x_axis, "yaxis": {"range": [0, 1.04], "tickformat": ".0%"}})
    fig.add_hline(y=chance, line={"color": THEORY, "width": 1.2, "dash": "dash"})
    return _finished(fig, title, 300)


def smoothed(values: np.ndarray, over: int = 5) -> np.ndarray:
    """The mean of up to `over` steps before and at each."""
    total = np.concatenate([[0.0], np.cumsum(values)])
    step = np.arange(1, len(values) + 1)
    first = np.maximum(step - over, 0)
    return (total[step] - total[first]) / np.maximum(step - first, 1)


def _finished(fig: Figure, title: str, height: int) -> Figure:
    layout(fig, title, height)
    return fig.update_layout(
        title_font={"size": 14},
        legend=below(),
        margin_t=above(fig, 34),
        showlegend=True,
        xaxis_tickfont={"size": 11},
        yaxis_tickfont={"size": 11},
    )
