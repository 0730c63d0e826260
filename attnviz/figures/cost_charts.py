"""Charts of costs: bytes and seconds over sizes, stacked bars, and the roofline of a machine."""

import html
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from attnviz.base.units import binary_unit, duration
from attnviz.base.words import _
from attnviz.figures.chart import POWERS, Series, axis, bars, chart, line, mark_x, points
from attnviz.figures.theme import THEORY, Figure, series_colour

#: tick labels of a logarithmic axis
BYTES = {1024**i: f"1 {unit}" for i, unit in enumerate(("B", "KiB", "MiB", "GiB", "TiB", "PiB"))}
FINE_BYTES = {
    1024**i * multiple: f"{multiple} {unit}"
    for i, unit in enumerate(("B", "KiB", "MiB", "GiB", "TiB", "PiB"))
    for multiple in (1, 32)
}
SECONDS = {10.0**power: duration(10.0**power) for power in range(-6, 4)}


def binary_ticks(most: float) -> dict[float, str]:
    """Tick labels of a linear axis of bytes up to `most`, at round numbers of KiB, MiB or GiB."""
    name, unit = binary_unit(most)
    room = max(most, 1) / unit
    step = 2.0 ** math.ceil(math.log2(room / 5))
    return {i * step * unit: f"{i * step:g} {name}" for i in range(int(room / step) + 1)}


def byte_axis(name: str, most: float) -> dict[str, Any]:
    """An axis of bytes up to `most`, which stands still while they grow up to fourfold: the bars are seen growing."""
    end = 4.0 ** math.ceil(math.log(max(most, 1), 4) - 1e-9)
    return axis(name, 12, binary_ticks(end), range=[0, 1.02 * end])


def draw_byte_curves(
    x: Sequence[int],
    lines: Mapping[str, Sequence[float | None]],
    x_title: str,
    y_title: str,
    *,
    here: int | None,
    limits: Mapping[str, float] = MappingProxyType({}),
    text: Callable[[float], str],
    ticks: Mapping[float, str] = MappingProxyType({}),
    dots: bool = False,
    height: int = 330,
) -> Figure:
    """Curves over sizes, both axes logarithmic; `limits` are named horizontal lines.

    `here` is the chosen size, `text` formats a value for hovering, `ticks` are labels of the y axis, and `dots` marks
    each value.
    """
    every = 1 if x[-1] <= x[0] << 4 else 2 if x[-1] <= x[0] << 8 else 3
    powers = {2**i: f"{2**i:,}" for i in range(0, 31, every) if x[0] <= 2**i <= x[-1]}
    curves = [
        line(
            list(x),
            list(values),
            name,
            series_colour(name, number),
            dots=dots,
            customdata=["" if value is None else text(value) for value in values],
            hover="%{x:,}: %{customdata}",
        )
        for number, (name, values) in enumerate(lines.items())
    ]
    return chart(
        [*curves, *(_limit_line([x[0], x[-1]], value, name) for name, value in limits.items())],
        axis(x_title, 12, powers, type="log"),
        axis(y_title, 12, ticks or None, **POWERS),
        height=height,
        here=here,
    )


def _limit_line(ends: list[int], value: float, name: str) -> Series:
    style = {"mode": "lines+text", "textposition": "top right", "textfont": {"size": 11, "color": THEORY}}
    across = line(ends, [value, value], None, THEORY, width=1, dash="dot", hover="", showlegend=False)
    return across | style | {"text": [name, ""]}  # at the left


def draw_stacked_bars(
    categories: Sequence[str],
    components: Mapping[str, Sequence[float]],
    names: Mapping[str, str],
    colours: Mapping[str, str],
    axis: dict[str, Any],
    *,
    text: Callable[[float], str] | None = None,
    height: int,
) -> Figure:
    """Horizontal stacked bars, one colour a component; a component that is 0 everywhere is left out.

    `text` formats a value for hovering, by default in digits; `axis` is the axis of values.
    """
    hover = "%{y}: %{customdata}" if text else "%{y}: %{x:,}"
    return chart(
        [
            bars(
                list(values),
                list(categories),
                names[component],
                colours[component],
                across=True,
                customdata=text and [text(value) for value in values],
                hover=hover,
            )
            for component, values in components.items()
            if any(values)
        ],
        axis,
        {"autorange": "reversed", "type": "category"},
        height=height,
        barmode="stack",
        bargap=0.35,
        legend={"traceorder": "normal"},
    )


@dataclass(frozen=True)
class RoofPoints:
    """Labelled points of one kind in a roofline chart."""

    name: str
    text_position: str  #: position of a label, as Plotly names it
    symbol: str
    colour: str
    intensities: Sequence[float]  #: FLOPs a byte
    speeds: Sequence[float]  #: FLOP/s
    labels: Sequence[str]


def draw_roofline(peak: float, bandwidth: float, kinds: Sequence[RoofPoints], x_title: str) -> Figure:
    """Roofline chart: FLOP/s over FLOPs a byte, both logarithmic, with measured points below the roof.

    At the dotted line, reading takes as long as computing.
    """
    ridge = peak / bandwidth
    ends = [ridge, *(x for kind in kinds for x in kind.intensities)]
    x = np.sort(np.append(np.geomspace(min(ends) / 2, max(ends) * 3, 80), ridge))
    hover, name = "%{x:.3g}: %{y:,.4g} GFLOP/s<extra></extra>", _("the most this machine can do")
    point_series = [
        points(
            list(kind.intensities),
            [speed / 1e9 for speed in kind.speeds],
            kind.name,
            kind.colour,
            size=10,
            symbol=kind.symbol,
            text=[html.escape(label) for label in kind.labels],
            at=kind.text_position,
            textfont={"size": 11},
            hover="%{text}: %{x:.3g} FLOP/byte, %{y:,.4g} GFLOP/s",
            cliponaxis=False,
        )
        for kind in kinds
    ]
    return chart(
        [line(x, np.minimum(peak, bandwidth * x) / 1e9, name, THEORY, hover=hover), *point_series],
        axis(x_title, 12, **_powers(min(x), max(x))),
        axis(_("GFLOP/s"), 12, **_powers(min(peak, bandwidth * min(x)), peak)),
        height=380,
        marks=[mark_x(ridge)],
        showlegend=True,
    )


def _powers(low: float, high: float) -> dict[str, Any]:
    """A logarithmic axis with powers of ten, and their multiples by 2 and 5 on a short axis."""
    return {"type": "log", "dtick": 1 if high > 1000 * low else "D2", "tickformat": ","}
