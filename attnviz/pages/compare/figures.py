"""Charts of the page: curves of several layers, and their mixing matrices."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnviz.base.words import _
from attnviz.figures.chart import Panel, Series, axis, cells, chart, line, panels, points
from attnviz.figures.theme import FONT, SERIES, THEORY, WEIGHTS, Figure
from attnviz.figures.title_lines import margin_above

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
SMALL = {"size": 11}  #: letters of ticks
THICK = {"line": {"width": 2}}


def kind_names() -> dict[str, str]:
    """Names of the layers, by id. LSTM and GRU are names in every language."""
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
    """One layer over x."""

    kind: str
    name: str
    x: np.ndarray
    y: np.ndarray


def draw_curves(
    curves: Sequence[KindCurve],
    title: str,
    x_title: str,
    *,
    here: float | None = None,
    crossings: Sequence[tuple[float, float, str]] = (),
    unit: str = "",
    height: int = 360,
) -> Figure:
    """Draw layers over one size, both axes logarithmic.

    `here`: the marked x. `crossings`: (x, y, hover text).
    """
    rings = [
        points([x], [y], None, THEORY, size=11, symbol="circle-open", marker=THICK, hover=text, showlegend=False)
        for x, y, text in crossings
    ]
    tick_labels = _label_powers(np.concatenate([curve.x for curve in curves]))
    y_axis: dict[str, Any] = {"dtick": _decade_step(curves, height), "tickfont": {"size": 9}}  # powers grow by a fourth
    fig = chart(
        [*(_draw_curve(curve, unit) for curve in curves), *rings],
        axis(x_title, 12, tick_labels, type="log", tickfont=SMALL),
        y_axis | {"type": "log", "exponentformat": "power"},
        height=height,
        title=title,
        here=here,
    )
    return fig.update_layout(title_font={"size": 14, "family": FONT}, margin_t=margin_above(fig, 34))


def _draw_curve(curve: KindCurve, unit: str) -> Series:
    hover = f"%{{x:,}}: %{{y:.3s}}{unit}"
    return _draw_kind(curve.kind, curve.x, curve.y, curve.name, hover=hover, legendgroup=curve.kind)


def _draw_kind(kind: str, x: np.ndarray, y: np.ndarray, name: str, width: float = 2.2, **look: Any) -> Series:
    return line(x, y, name, COLOURS[kind], width=width, dash=DASHES.get(kind, "solid"), **look)


def _label_powers(x: np.ndarray) -> dict[int, str]:
    """Tick labels at about six powers of two."""
    low, high = int(np.floor(np.log2(x.min()))), int(np.ceil(np.log2(x.max())))
    step = max(1, -(-(high - low) // 6))
    return {2**i: _format_short(2**i) for i in range(low, high + 1, step)}


def _format_short(value: int) -> str:
    for power, name in ((30, "Gi"), (20, "Mi"), (10, "Ki")):
        if value >= 1 << power and value % (1 << power) == 0 and value >= 1 << 14:
            return f"{value >> power}{name}"
    return f"{value:,}"


def _decade_step(curves: Sequence[KindCurve], height: int) -> int:
    """Decades between two ticks, at about 60 pixels a tick."""
    values = np.concatenate([curve.y[curve.y > 0] for curve in curves])
    decades = float(np.log10(values.max() / values.min())) if len(values) else 1.0
    return max(1, math.ceil(decades / max(1, (height - 160) / 50)))


def draw_matrices(names: Sequence[str], rows: Sequence[tuple[str, Sequence[np.ndarray]]]) -> Figure:
    """Draw a column for each layer, a row for each input. Each column has its own colour range from 0."""
    tops = [max(float(norms[column].max()) for _name, norms in rows) for column in range(len(names))]
    bare: dict[str, Any] = {"showticklabels": False, "ticks": "", "showgrid": False, "constrain": "domain"}
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
    hover = _("output %{y}, input %{x}: %{customdata:.3g}")
    return panels(
        [
            Panel(
                [
                    cells(
                        (norms / (top or 1)).astype("float32"),
                        None,
                        coloraxis="coloraxis",
                        customdata=norms,
                        hover=f"{title}: {hover}",
                    )
                ],
                bare,
                axis(None if column else title, 12, autorange="reversed", **bare),
            )
            for title, stack in rows
            for column, (norms, top) in enumerate(zip(stack, tops, strict=True))
        ],
        len(names),
        spacing={"horizontal_spacing": 0.025, "vertical_spacing": 0.05, "column_titles": list(names)},
        titles_size=12,
        height=400,
        top=26,
        coloraxis={"colorscale": WEIGHTS, "cmin": 0, "cmax": 1, "colorbar": bar},
    ).update_layout(margin_l=4)


def approximation_error(heads: np.ndarray, lines: Sequence[tuple[str, np.ndarray]], average: float) -> Figure:
    """Error of 1 to k heads against a convolution. `average`: that of one head with even weights."""
    hover, name = _("%{x} heads miss %{y:.1%}"), _("one head, the average of all places")
    styles = [{"dash": "dash" if number else "solid", "colour": SERIES[number]} for number in range(len(lines))]
    return chart(
        [
            *(
                line(heads, errors, name, width=2.2, dots=7, hover=hover, **style)
                for (name, errors), style in zip(lines, styles, strict=True)
            ),
            points([1], [average], name, SERIES[2], size=12, symbol="diamond", hover="%{y:.1%}"),
        ],
        axis(_("heads"), 12, dtick=max(1, len(heads) // 8)),
        axis(_("missed"), 12, tickformat=".0%", range=[0, 1.04]),
        height=300,
    )
