"""Parameters, FLOPs and bytes of attention, beside each other and over context."""

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import plotly.graph_objects as go

from attnviz.base.units import binary_unit
from attnviz.base.words import _
from attnviz.figures.theme import ALTERNATIVE, K_VERMILION, MASKED, Q_BLUE, SERIES, THEORY, V_GREEN, Figure, layout

#: W_Q, W_K and W_V have the colours of Q, K and V.
PARTS = {"w_q": Q_BLUE, "w_k": K_VERMILION, "w_v": V_GREEN, "w_o": ALTERNATIVE, "w_down": SERIES[3], "rest": MASKED}
KINDS = {
    "full": K_VERMILION,
    "window": SERIES[0],
    "chunk": SERIES[6],
    "latent": SERIES[3],
    "hybrid": SERIES[4],
    "linear": SERIES[2],
    "shared": MASKED,
    "none": MASKED,
}


def stacked(names: Sequence[str], parts: Mapping[str, Sequence[int]], titles: Mapping[str, str]) -> Figure:
    """Parameters by matrix, one bar for each way of sharing."""
    bars = [
        go.Bar(
            y=list(names),
            x=list(values),
            name=titles[part],
            orientation="h",
            marker_color=PARTS[part],
            hovertemplate="%{y}: %{x:,}<extra>" + titles[part] + "</extra>",
        )
        for part, values in parts.items()
        if any(values)
    ]
    look = {
        "barmode": "stack",
        "bargap": 0.35,
        "legend": {"traceorder": "normal"},
        "yaxis": {"autorange": "reversed", "type": "category"},
        "xaxis": _parameter_ticks(max((sum(each) for each in zip(*parts.values(), strict=True)), default=0)),
    }
    return layout(go.Figure(bars, look), height=120 + 42 * len(names))


def _parameter_ticks(most: float) -> dict[str, Any]:
    """Places on a linear axis of parameters, in millions where there are so many: "0.5B" would be read as bytes."""
    unit, name = (10**6, _("parameters, in millions")) if most >= 10**6 else (1, _("parameters"))
    room = max(most, 1) / unit
    rough = room / 5
    scale = 10.0 ** math.floor(math.log10(rough))
    step = next(m * scale for m in (1, 2, 5, 10) if m * scale >= rough)
    places = [i * step for i in range(int(room / step) + 1)]
    return {
        "tickvals": [place * unit for place in places],
        "ticktext": [f"{place:,.6g}" for place in places],
        "title": titled(name),
    }


def bars(names: Sequence[str], values: Sequence[float], unit: str, chosen: int | None, texts: Sequence[str]) -> Figure:
    """Bytes for each way of sharing; `texts` are the bytes as people read them, and the axis is in KiB to TiB."""
    fig = go.Figure(
        go.Bar(
            y=list(names),
            x=list(values),
            orientation="h",
            marker_color=[SERIES[0] if i == chosen else MASKED for i in range(len(names))],
            text=list(texts),
            hovertemplate="%{y}: %{text}<extra></extra>",
        ),
        {
            "yaxis": {"autorange": "reversed", "type": "category"},
            "xaxis": {"title": titled(unit), "rangemode": "tozero", **binary_ticks(max(values))},
        },
    )
    return layout(fig, height=70 + 36 * len(names))


def binary_ticks(most: float) -> dict[str, list[Any]]:
    """A handful of places on a linear axis of bytes, at round numbers of KiB, MiB or GiB."""
    name, unit = binary_unit(most)
    room = max(most, 1) / unit
    step = 2.0 ** math.ceil(math.log2(room / 5))
    places = [i * step for i in range(int(room / step) + 1)]
    return {"tickvals": [place * unit for place in places], "ticktext": [f"{place:g} {name}" for place in places]}


def over(
    x: Sequence[int],
    lines: Mapping[str, Sequence[float]],
    x_title: str,
    y_title: str,
    *,
    here: int,
    limits: Mapping[str, float] = MappingProxyType({}),
    text: Callable[[float], str],
    binary: bool = False,
    height: int = 330,
) -> Figure:
    """Curves over context, batch or K/V heads, both axes logarithmic; `limits` are horizontal lines with a name.

    `text` puts a value into words, `binary` writes the y axis in KiB, MiB, GiB.
    """
    curves = [
        go.Scatter(
            x=list(x),
            y=list(values),
            name=name,
            mode="lines",
            line={"color": SERIES[number % len(SERIES)], "width": 2.5},
            customdata=[text(value) for value in values],
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
    powers = [2**i for i in range(0, 31, 3) if x[0] <= 2**i <= x[-1]]
    names = ["1 B", "1 KiB", "1 MiB", "1 GiB", "1 TiB", "1 PiB"]
    look = {
        "xaxis": {
            "type": "log",
            "title": titled(x_title),
            "tickvals": powers,
            "ticktext": [f"{power:,}" for power in powers],
        },
        "yaxis": {"type": "log", "title": titled(y_title), "exponentformat": "power"}
        | ({"tickvals": [1024**i for i in range(6)], "ticktext": names} if binary else {}),
    }
    fig = go.Figure([*curves, *across], look)
    fig.add_vline(x=here, line={"color": THEORY, "width": 1, "dash": "dot"})
    return layout(fig, height=height)


def titled(text: str) -> dict[str, Any]:
    """The title of an axis."""
    return {"text": text, "font": {"size": 12}}


def strip(nbytes: Sequence[int], kinds: Sequence[str], labels: Sequence[str], names: Mapping[str, str]) -> Figure:
    """Bytes that each layer keeps between tokens, coloured by its kind of layer."""
    places = {kind: [i for i, k in enumerate(kinds) if k == kind] for kind in dict.fromkeys(kinds)}
    bars = [
        go.Bar(
            x=picked,
            y=[nbytes[i] for i in picked],
            name=names[kind],
            marker_color=KINDS[kind],
            customdata=[labels[i] for i in picked],
            hovertemplate="%{customdata}: %{y:,} B<extra>" + names[kind] + "</extra>",
            width=0.9,
        )
        for kind, picked in places.items()
    ]
    look = {
        "xaxis": {"title": titled(_("layer")), "range": [-0.6, len(kinds) - 0.4]},
        "yaxis": {"title": titled(_("bytes")), "rangemode": "tozero", **binary_ticks(max(nbytes, default=0))},
        "showlegend": True,
    }
    return layout(go.Figure(bars, look), height=230)


def memory(weights: int, cache: int, room: int) -> Figure:
    """Weights and cache side by side in a machine's memory, in GiB."""
    gib = 1 << 30
    parts = (
        (_("weights"), weights, SERIES[3], 1.0),
        (_("keys and values"), cache, K_VERMILION, 1.0),
        (_("free"), max(0, room - weights - cache), MASKED, 0.3),
    )
    bars = [
        go.Bar(
            y=[""],
            x=[value / gib],
            name=name,
            orientation="h",
            marker={"color": colour, "opacity": opacity},
            hovertemplate="%{x:,.2f} GiB<extra>" + name + "</extra>",
        )
        for name, value, colour, opacity in parts
    ]
    fig = go.Figure(
        bars,
        {
            "barmode": "stack",
            "legend": {"traceorder": "normal"},
            "xaxis": {"title": titled(_("GiB")), "rangemode": "tozero"},
        },
    )
    fig.add_vline(x=room / gib, line={"color": THEORY, "width": 2})
    return layout(fig, height=170)


def quality(models: Sequence[str], seconds: Sequence[float], scores: Sequence[float]) -> Figure:
    """Speed against quality: up is better, left is faster."""
    fig = go.Figure(
        go.Scatter(
            x=list(seconds),
            y=list(scores),
            mode="markers+text",
            text=list(models),
            textposition=["middle right" if s < 1 else "middle left" for s in seconds],
            marker={"size": 13, "color": [SERIES[i % len(SERIES)] for i in range(len(models))]},
            hovertemplate="%{text}: %{x} s, %{y}<extra></extra>",
        ),
        {
            "xaxis": {"title": titled(_("seconds a sample")), "rangemode": "tozero"},
            "yaxis": {"title": titled(_("average score")), "range": [45.6, 47.6]},
        },
    )
    return layout(fig, height=270)
