"""Parameters, FLOPs and bytes of attention, beside each other and over context."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from attnviz.base import units
from attnviz.base.words import _
from attnviz.figures.byte_axes import binary_ticks, titled
from attnviz.figures.stacked_bars import stacked
from attnviz.figures.theme import ALTERNATIVE, K_VERMILION, MASKED, Q_BLUE, SERIES, THEORY, V_GREEN, Figure, layout

#: W_Q, W_K and W_V have the colours of Q, K and V.
PARTS = {"w_q": Q_BLUE, "w_k": K_VERMILION, "w_v": V_GREEN, "w_o": ALTERNATIVE, "w_down": SERIES[3], "rest": MASKED}
SHARING = ("MHA", "GQA", "MQA", "MLA")  #: how models share keys and values, as the proof colours them
LANDMARKS = ("gpt2", "llama-1-7b", "falcon-7b", "gpt-neox-20b", "deepseek-v3")  #: named in it
CACHES = {n << 20: f"{n} MiB" for n in (4, 16, 64, 256)}
KINDS = {
    "full": K_VERMILION,
    "window": SERIES[0],
    "chunk": SERIES[7],
    "latent": SERIES[3],
    "hybrid": SERIES[4],
    "linear": SERIES[2],
    "shared": MASKED,
    "none": MASKED,
}


def parameters(names: Sequence[str], parts: Mapping[str, Sequence[int]], titles: Mapping[str, str]) -> Figure:
    """Parameters by matrix, one bar for each way of sharing."""
    most = max((sum(each) for each in zip(*parts.values(), strict=True)), default=0)
    return stacked(names, parts, titles, PARTS, _parameter_ticks(most), height=120 + 42 * len(names))


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


def proof(models: Sequence[tuple[str, str, int, int, int]], chosen: str) -> Figure:
    """Bytes of a cache over parameters: of each (name, sharing, parameters, by formula, measured) a dot in a ring."""
    fig = go.Figure()
    for number, kind in enumerate(SHARING):
        names, parameters, formula, measured = zip(
            *((n, p, f, m) for n, k, p, f, m in models if k == kind), strict=True
        )
        big = [name == chosen for name in names]
        said = [units.binary(value) for value in measured]
        colour = SERIES[number]
        fig.add_scatter(
            x=parameters,
            y=measured,
            name=kind,
            mode="markers+text",
            text=[name if named or name in LANDMARKS else "" for name, named in zip(names, big, strict=True)],
            textposition=["top left" if each > 1e11 else "top center" for each in parameters],
            marker={"symbol": "circle-open", "size": [26 if each else 15 for each in big], "color": colour},
            marker_line_width=[4 if each else 2 for each in big],
            customdata=list(zip(names, said, strict=True)),
            hovertemplate="%{customdata[0]}: %{customdata[1]}<extra>" + kind + "</extra>",
        )
        dots = {"mode": "markers", "marker": {"size": 6, "color": colour}, "hoverinfo": "skip", "showlegend": False}
        fig.add_scatter(x=parameters, y=formula, **dots)
    thousands = {10.0**power: name for power, name in ((8, "100M"), (9, "1B"), (10, "10B"), (11, "100B"), (12, "1T"))}
    fig.update_xaxes(type="log", title=titled(_("parameters of the model")), range=[7.4, 12.1])
    fig.update_xaxes(tickvals=list(thousands), ticktext=list(thousands.values()))
    fig.update_yaxes(type="log", title=titled(_("cache of 512 tokens")))
    fig.update_yaxes(tickvals=list(CACHES), ticktext=list(CACHES.values()))
    return layout(fig, height=400)


def quality(models: Sequence[str], seconds: Sequence[float], scores: Sequence[float]) -> Figure:
    """Speed against quality: up is better, left is faster."""
    fig = go.Figure(
        go.Scatter(
            x=list(seconds),
            y=list(scores),
            mode="markers+text",
            text=list(models),
            textposition=["middle right" if s < 1 else "middle left" for s in seconds],
            textfont={"size": 14},
            marker={"size": 18, "color": [SERIES[i % len(SERIES)] for i in range(len(models))]},
            hovertemplate="%{text}: %{x} s, %{y}<extra></extra>",
        ),
        {
            "xaxis": {"title": titled(_("seconds a sample")), "rangemode": "tozero"},
            "yaxis": {"title": titled(_("average score")), "range": [45.6, 47.6]},
        },
    )
    return layout(fig, height=300)
