"""Axes of bytes and of seconds, and curves over the number of tokens, of sequences, of heads."""

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import plotly.graph_objects as go

from attnviz.base.units import binary_unit, duration
from attnviz.figures.theme import SERIES, THEORY, Figure, layout
from attnviz.figures.title_lines import below

#: places that a logarithmic axis names
BYTES = {1024**i: f"1 {unit}" for i, unit in enumerate(("B", "KiB", "MiB", "GiB", "TiB", "PiB"))}
FINE_BYTES = {
    1024**i * of: f"{of} {unit}" for i, unit in enumerate(("B", "KiB", "MiB", "GiB", "TiB", "PiB")) for of in (1, 32)
}
SECONDS = {10.0**power: duration(10.0**power) for power in range(-6, 4)}


def titled(text: str) -> dict[str, Any]:
    """The title of an axis."""
    return {"text": text, "font": {"size": 12}}


def binary_ticks(most: float) -> dict[str, list[Any]]:
    """A handful of places on a linear axis of bytes, at round numbers of KiB, MiB or GiB."""
    name, unit = binary_unit(most)
    room = max(most, 1) / unit
    step = 2.0 ** math.ceil(math.log2(room / 5))
    places = [i * step for i in range(int(room / step) + 1)]
    return {"tickvals": [place * unit for place in places], "ticktext": [f"{place:g} {name}" for place in places]}


def over(
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
    """Curves over a number of things, both axes logarithmic; `limits` are horizontal lines with a name.

    `here` is the chosen place, `text` puts a value into words, `ticks` are the places that the y axis names, and
    `dots` marks each value.
    """
    curves = [
        go.Scatter(
            x=list(x),
            y=list(values),
            name=name,
            mode="lines+markers" if dots else "lines",
            line={"color": SERIES[number % len(SERIES)], "width": 2.5},
            customdata=["" if value is None else text(value) for value in values],
            hovertemplate="%{x:,}: %{customdata}<extra>" + name + "</extra>",
        )
        for number, (name, values) in enumerate(lines.items())
    ]
    across = [
        go.Scatter(
            x=[x[0], x[-1]],
            y=[value, value],
            mode="lines+text",
            text=[name, ""],  # at the left
            textposition="top right",
            textfont={"size": 11, "color": THEORY},
            line={"color": THEORY, "width": 1, "dash": "dot"},
            showlegend=False,
            hoverinfo="skip",
        )
        for name, value in limits.items()
    ]
    every = 1 if x[-1] <= x[0] << 4 else 2 if x[-1] <= x[0] << 8 else 3
    powers = [2**i for i in range(0, 31, every) if x[0] <= 2**i <= x[-1]]
    look = {
        "xaxis": {
            "type": "log",
            "title": titled(x_title),
            "tickvals": powers,
            "ticktext": [f"{power:,}" for power in powers],
        },
        "yaxis": {"type": "log", "title": titled(y_title), "exponentformat": "power"}
        | ({"tickvals": list(ticks), "ticktext": list(ticks.values())} if ticks else {}),
    }
    fig = go.Figure([*curves, *across], look)
    if here is not None:
        fig.add_vline(x=here, line={"color": THEORY, "width": 1, "dash": "dot"})
    return layout(fig, height=height).update_layout(legend=below())
