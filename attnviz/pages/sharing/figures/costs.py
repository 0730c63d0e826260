"""Parameters, FLOPs and bytes of attention, beside each other and over context."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
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
    fig = go.Figure()
    for part, values in parts.items():
        if any(values):
            fig.add_trace(
                go.Bar(
                    y=list(names),
                    x=list(values),
                    name=titles[part],
                    orientation="h",
                    marker_color=PARTS[part],
                    hovertemplate="%{y}: %{x:,}<extra>" + titles[part] + "</extra>",
                )
            )
    fig.update_layout(barmode="stack", bargap=0.35, legend_traceorder="normal")
    fig.update_yaxes(autorange="reversed", type="category")
    fig.update_xaxes(**_parameter_ticks(max((sum(each) for each in zip(*parts.values(), strict=True)), default=0)))
    return layout(fig, height=120 + 42 * len(names))


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
        "title": {"text": name, "font": {"size": 12}},
    }


def bars(
    names: Sequence[str],
    values: Sequence[float],
    unit: str,
    chosen: int | None = None,
    said: Sequence[str] | None = None,
) -> Figure:
    """One quantity for each way of sharing; `said` are the bytes as people read them, and the axis is in KiB to TiB."""
    colours = [SERIES[0] if i == chosen else MASKED for i in range(len(names))]
    fig = go.Figure(
        go.Bar(
            y=list(names),
            x=list(values),
            orientation="h",
            marker_color=colours,
            text=[f"{value:,.4g}" for value in values] if said is None else list(said),
            hovertemplate=("%{y}: %{x:,.4g} " + unit if said is None else "%{y}: %{text}") + "<extra></extra>",
        )
    )
    fig.update_yaxes(autorange="reversed", type="category")
    fig.update_xaxes(title={"text": unit, "font": {"size": 12}}, rangemode="tozero")
    if said is not None:
        fig.update_xaxes(**binary_ticks(max(values)))
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
    here: int | None = None,
    limits: Mapping[str, float] | None = None,
    said: Callable[[float], str],
    binary: bool = False,
    height: int = 330,
) -> Figure:
    """Curves over context, batch or K/V heads, both axes logarithmic; `limits` are horizontal lines with a name.

    `said` puts a value into words, `binary` writes the y axis in KiB, MiB, GiB.
    """
    curves = [
        go.Scatter(
            x=list(x),
            y=list(values),
            name=name,
            mode="lines",
            line={"color": SERIES[number % len(SERIES)], "width": 2.5},
            customdata=[said(value) for value in values],
            hovertemplate="%{x:,}: %{customdata}<extra>" + name + "</extra>",
        )
        for number, (name, values) in enumerate(lines.items())
    ]
    fig = go.Figure([*curves, *(_limit(x, name, value) for name, value in (limits or {}).items())])
    if here is not None:
        fig.add_vline(x=here, line={"color": THEORY, "width": 1, "dash": "dot"})
    powers = [2**i for i in range(0, 31, 3) if x[0] <= 2**i <= x[-1]]
    fig.update_xaxes(
        type="log",
        title={"text": x_title, "font": {"size": 12}},
        tickvals=powers,
        ticktext=[f"{power:,}" for power in powers],
    )
    fig.update_yaxes(type="log", title={"text": y_title, "font": {"size": 12}}, exponentformat="power")
    if binary:
        names = ["1 B", "1 KiB", "1 MiB", "1 GiB", "1 TiB", "1 PiB"]
        fig.update_yaxes(tickvals=[1024**i for i in range(6)], ticktext=names)
    return layout(fig, height=height)


def _limit(x: Sequence[int], name: str, value: float) -> go.Scatter:
    """A dotted line across, with its name at the left."""
    return go.Scatter(
        x=[x[0], x[-1]],
        y=[value, value],
        mode="lines+text",
        text=[name, ""],
        textposition="top right",
        textfont={"size": 11, "color": THEORY},
        line={"color": THEORY, "width": 1, "dash": "dot"},
        showlegend=False,
        hoverinfo="skip",
    )


def strip(nbytes: Sequence[int], kinds: Sequence[str], labels: Sequence[str], names: Mapping[str, str]) -> Figure:
    """Bytes that each layer keeps between tokens, coloured by its kind of layer."""
    fig = go.Figure()
    for kind in dict.fromkeys(kinds):
        picked = [i for i, k in enumerate(kinds) if k == kind]
        fig.add_trace(
            go.Bar(
                x=picked,
                y=[nbytes[i] for i in picked],
                name=names[kind],
                marker_color=KINDS[kind],
                customdata=[labels[i] for i in picked],
                hovertemplate="%{customdata}: %{y:,} B<extra>" + names[kind] + "</extra>",
                width=0.9,
            )
        )
    fig.update_xaxes(title={"text": _("layer"), "font": {"size": 12}}, range=[-0.6, len(kinds) - 0.4])
    fig.update_yaxes(
        title={"text": _("bytes"), "font": {"size": 12}}, rangemode="tozero", **binary_ticks(max(nbytes, default=0))
    )
    fig.update_layout(showlegend=True)
    return layout(fig, height=230)


def memory(weights: int, cache: int, room: int) -> Figure:
    """Weights and cache side by side in a machine's memory, in GiB."""
    gib = 1 << 30
    free = max(0, room - weights - cache)
    fig = go.Figure()
    for name, value, colour in (
        (_("weights"), weights, SERIES[3]),
        (_("keys and values"), cache, K_VERMILION),
        (_("free"), free, MASKED),
    ):
        fig.add_trace(
            go.Bar(
                y=[""],
                x=[value / gib],
                name=name,
                orientation="h",
                marker={"color": colour, "opacity": 0.3 if name == _("free") else 1.0},
                hovertemplate="%{x:,.2f} GiB<extra>" + name + "</extra>",
            )
        )
    fig.add_vline(x=room / gib, line={"color": THEORY, "width": 2})
    fig.update_layout(barmode="stack", legend_traceorder="normal")
    fig.update_xaxes(title={"text": _("GiB"), "font": {"size": 12}}, rangemode="tozero")
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
        )
    )
    fig.update_xaxes(title={"text": _("seconds a sample"), "font": {"size": 12}}, rangemode="tozero")
    fig.update_yaxes(title={"text": _("average score"), "font": {"size": 12}}, range=[45.6, 47.6])
    return layout(fig, height=270)
