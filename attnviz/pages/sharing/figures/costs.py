"""Parameters, FLOPs and bytes of attention, beside each other and over context."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from attnviz.base.words import _
from attnviz.figures.byte_axes import binary_ticks, titled
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
