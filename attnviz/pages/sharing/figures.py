"""Figures of sharing: parameters and bytes beside each other and over context, heads as trained and shared."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from attnviz.base import units
from attnviz.base.words import _
from attnviz.figures import chart as charts
from attnviz.figures.chart import Series, axis, cells, chart, line, mark_x, note, points
from attnviz.figures.cost_charts import byte_axis, draw_stacked_bars
from attnviz.figures.heatmap import label, token_axis
from attnviz.figures.theme import (
    ALTERNATIVE,
    AXIS,
    FONT,
    K_VERMILION,
    MASKED,
    Q_BLUE,
    ROLES,
    SERIES,
    SHARING,
    V_GREEN,
    WEIGHTS,
    Figure,
    add_alpha,
    series_colour,
)

#: W_Q, W_K and W_V have the colours of Q, K and V.
PARTS = {"w_q": Q_BLUE, "w_k": K_VERMILION, "w_v": V_GREEN, "w_o": ALTERNATIVE, "w_down": SERIES[3], "rest": MASKED}
#: of a pass; none is that of q, k or v
COMPONENTS = {
    "projections": K_VERMILION,
    "scores": SERIES[4],
    "mlp": SERIES[0],
    "embedding": MASKED,
    "output": SERIES[3],
}
LANDMARKS = ("gpt2", "llama-1-7b", "falcon-7b", "gpt-neox-20b", "deepseek-v3")  #: named in it
CACHES = {n << 20: f"{n} MiB" for n in (4, 16, 64, 256)}
KINDS = {
    "full": K_VERMILION,
    "window": SERIES[0],
    "chunk": SERIES[7],
    "latent": ROLES["MLA"],
    "hybrid": SERIES[4],
    "linear": SERIES[2],
    "shared": MASKED,
    "none": MASKED,
}


# Parameters, FLOPs and bytes of attention.
def parameter_bars(names: Sequence[str], parts: Mapping[str, Sequence[int]], titles: Mapping[str, str]) -> Figure:
    """Parameters by matrix, one bar for each way of sharing."""
    most = max((sum(counts) for counts in zip(*parts.values(), strict=True)), default=0)
    return draw_stacked_bars(names, parts, titles, PARTS, _parameter_ticks(most), height=120 + 42 * len(names))


def _parameter_ticks(most: float) -> dict[str, Any]:
    """Ticks of a linear axis of parameters, in millions for large numbers: "0.5B" would be read as bytes."""
    unit, name = (10**6, _("parameters, in millions")) if most >= 10**6 else (1, _("parameters"))
    room = max(most, 1) / unit
    scale = 10.0 ** math.floor(math.log10(room / 5))
    step = next(m * scale for m in (1, 2, 5, 10) if m * scale >= room / 5)
    return axis(name, 12, {i * step * unit: f"{i * step:,.6g}" for i in range(int(room / step) + 1)})


def whole_pass_bars(names: Sequence[str], shares: Mapping[str, Sequence[float]], titles: Mapping[str, str]) -> Figure:
    """What share of a pass each component of a model takes, one bar for each cost."""
    x = axis("", 12, range=[0, 1], tickformat=".0%")
    return draw_stacked_bars(names, shares, titles, COMPONENTS, x, text=units.percent, height=204)


def strip(nbytes: Sequence[int], kinds: Sequence[str], labels: Sequence[str], names: Mapping[str, str]) -> Figure:
    """Bytes that each layer keeps between tokens, coloured by its kind of layer."""
    layers_by_kind = {kind: [i for i, k in enumerate(kinds) if k == kind] for kind in dict.fromkeys(kinds)}
    return chart(
        [
            charts.bars(
                layers,
                [nbytes[i] for i in layers],
                names[kind],
                KINDS[kind],
                customdata=[labels[i] for i in layers],
                hover="%{customdata}: %{y:,} B",
                width=0.9,
            )
            for kind, layers in layers_by_kind.items()
        ],
        axis(_("layer"), 12, range=[-0.6, len(kinds) - 0.4]),
        byte_axis(_("bytes"), max(nbytes, default=0)),
        height=230,
        showlegend=True,
    )


def memory_bars(weights: int, cache: int, room: int) -> Figure:
    """Weights and cache side by side in a machine's memory, in GiB."""
    gib = 1 << 30
    parts = (
        (_("weights"), weights, SERIES[3], 1.0),
        (_("keys and values"), cache, K_VERMILION, 1.0),
        (_("free"), max(0, room - weights - cache), MASKED, 0.3),
    )
    hover = "%{x:,.2f} GiB"
    end = 1.25 * room / gib * 2.0 ** max(0, math.ceil(math.log2(max(weights + cache, 1) / (1.25 * room))))
    return chart(
        [
            charts.bars([value / gib], [""], name, colour, across=True, marker={"opacity": opacity}, hover=hover)
            for name, value, colour, opacity in parts
        ],
        axis(_("GiB"), 12, range=[0, end]),
        height=170,
        marks=[mark_x(room / gib, dash=None, width=2)],
        barmode="stack",
        legend={"traceorder": "normal"},
    )


def proof_bars(models: Sequence[tuple[str, str, int, int, int]], chosen: str) -> Figure:
    """Bytes of each model's cache over its parameters: formula as a dot, measurement as a ring.

    `models`: (name, sharing, parameters, bytes by formula, bytes measured).
    """
    thousands = {10.0**power: name for power, name in ((8, "100M"), (9, "1B"), (10, "10B"), (11, "100B"), (12, "1T"))}
    series: list[Series] = []
    for kind in SHARING:
        names, parameters, formula, measured = zip(
            *((n, p, f, m) for n, k, p, f, m in models if k == kind), strict=True
        )
        big = [name == chosen for name in names]
        rings = points(
            parameters,
            measured,
            kind,
            ROLES[kind],
            size=[26 if is_chosen else 15 for is_chosen in big],
            symbol="circle-open",
            marker={"line": {"width": [4 if is_chosen else 2 for is_chosen in big]}},
            text=[name if is_chosen or name in LANDMARKS else "" for name, is_chosen in zip(names, big, strict=True)],
            at=["top left" if count > 1e11 else "top center" for count in parameters],
            customdata=[(name, units.binary(value)) for name, value in zip(names, measured, strict=True)],
            hover="%{customdata[0]}: %{customdata[1]}",
        )
        series += [rings, points(parameters, formula, None, ROLES[kind], size=6, hover="", showlegend=False)]
    return chart(
        series,
        axis(_("parameters of the model"), 12, thousands, type="log", range=[7.4, 12.1]),
        axis(_("cache of 512 tokens"), 12, CACHES, type="log"),
        height=400,
    )


def quality_over_speed(models: Sequence[str], seconds: Sequence[float], scores: Sequence[float]) -> Figure:
    """Speed against quality: up is better, left is faster."""
    models_by_speed = points(
        list(seconds),
        list(scores),
        None,
        [series_colour(model, i) for i, model in enumerate(models)],
        size=18,
        text=list(models),
        at=["middle right" if s < 1 else "middle left" for s in seconds],
        textfont={"size": 14},
        hover="%{text}: %{x} s, %{y}",
    )
    x = axis(_("seconds a sample"), 12, rangemode="tozero")
    return chart([models_by_speed], x, axis(_("average score"), 12, range=[45.6, 47.6]), height=300)


# Which query heads share which K/V heads, and what sharing changes.
ABREAST = 6  #: small heads in a line, at most


def heads_before_and_after(
    before: np.ndarray, after: np.ndarray, heads: Sequence[int], tokens: Sequence[str], hidden: np.ndarray, side: int
) -> Figure:
    """Weights of some heads, (n, Q, K), as trained (above) and sharing their keys (below), each `side` pixels wide.

    All heads are cells of one trace, in two lines where they are many. A chart for each head would cost more than
    everything else on the page.
    """
    n, bands = len(tokens), 1 if len(heads) <= ABREAST else 2
    across, gap, above = -(-len(heads) // bands), max(1, round(8 * n / side)), max(1, round(20 * n / side))
    between = -(-18 * n // side)  # whole rows, for a line of text
    pair_height = above + 2 * n + between
    shape = bands * pair_height, across * (n + gap) - gap
    z = np.full(shape, np.nan, np.float32)
    names = [label(t) for t in tokens]
    # tokens are labels of the axes, which only a hand that points at a cell sees: for each cell they would be thousands
    query = [*[""] * above, *names, *[""] * between, *names] * bands
    key = [*names, *[""] * gap] * across
    shapes: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    grey = {"type": "rect", "line": {"width": 0}, "fillcolor": add_alpha(MASKED, 0.3), "layer": "below"}
    for i, head in enumerate(heads):
        top, left = i // across * pair_height + above, i % across * (n + gap)
        for start, weights in ((top, before[i]), (top + n + between, after[i])):
            z[start : start + n, left : left + n] = np.where(hidden, np.nan, weights)
            edges = {"x0": left - 0.5, "x1": left + n - 0.5, "y0": start - 0.5, "y1": start + n - 0.5}
            shapes.append(grey | edges)
        # an annotation: Streamlit's theme moves a title to the left edge of its chart
        look = {"font": {"size": 12}, "xanchor": "center", "yanchor": "bottom"}
        for start, text in ((top, _("head {head}").format(head=head)), (top + n + between, _("shared"))):
            annotations.append(note(left + (n - 1) / 2, start - 0.5, text, **look))
    trace = cells(z, WEIGHTS, 0, 1, hover="%{y} → %{x}<br><b>%{z:.4f}</b>", hoverongaps=False)
    bare: dict[str, Any] = dict.fromkeys(("showticklabels", "showgrid", "zeroline", "automargin"), False)
    return go.Figure(
        {
            "data": [trace],
            "layout": {
                "annotations": annotations,
                "font": {"family": FONT, "size": 13},
                "width": round(shape[1] * side / n),
                "height": round(shape[0] * side / n),
                "margin": dict.fromkeys("lrtb", 0),
                "paper_bgcolor": "rgba(0,0,0,0)",
                "plot_bgcolor": "rgba(0,0,0,0)",
                "xaxis": axis(labels=dict(enumerate(key[: shape[1]])), range=[-0.5, shape[1] - 0.5], **bare),
                "yaxis": axis(labels=dict(enumerate(query)), range=[shape[0] - 0.5, -0.5], scaleanchor="x", **bare),
                "shapes": shapes,
            },
        }
    )


def weight_moved_bars(weights: np.ndarray, outputs: np.ndarray, kv_of: Sequence[int]) -> Figure:
    """Share of attention that moved to other keys, and relative change of the output, by query head."""
    x, hover = [_("head {head}").format(head=h) for h in range(len(weights))], "%{x}: %{y:.1%}"
    edges = [h - 0.5 for h in range(1, len(kv_of)) if kv_of[h] != kv_of[h - 1]]
    return chart(
        [
            charts.bars(x, weights, _("attention that moved"), ROLES["weight"], hover=hover),
            charts.bars(x, outputs, _("change of output"), ROLES["changed"], hover=hover),
        ],
        y={"tickformat": ".0%", "rangemode": "tozero"},
        height=250,
        marks=[mark_x(edge, MASKED) for edge in edges],
    )


def change_over_cache(
    kv_heads: Sequence[int],
    change: Sequence[float],
    cache: Sequence[int],
    chosen: int,
    names: Sequence[str],
) -> Figure:
    """Change of the layer's output, and bytes of its cache, by number of K/V heads."""
    names, most = list(names), max(max(change), 0.01) * 1.15
    colours = [add_alpha(K_VERMILION, 0.85 if g == chosen else 0.35) for g in kv_heads]
    name, hover = _("change of the layer's output"), "%{x}: %{y:.1%}<extra></extra>"
    beside: dict[str, Any] = AXIS | {"showgrid": False, "overlaying": "y", "side": "right", "anchor": "x"}
    right = axis(_("change"), 12, tickformat=".0%", dtick=0.25 if most < 1.3 else 0.5, range=[0, most], **beside)
    return chart(
        [
            charts.bars(names, cache, _("K/V bytes"), colours, hover="%{x}: %{y:,} B<extra></extra>"),
            line(names, change, name, V_GREEN, width=3, dots=True, yaxis="y2", hover=hover),
        ],
        axis(_("K/V heads"), 12, type="category", domain=[0.0, 0.94]),
        byte_axis(_("bytes"), max(cache)),
        height=270,
        yaxis2=right,
    )


def token_bars(tokens: Sequence[str], before: Sequence[float], after: Sequence[float]) -> Figure:
    """The next token's probabilities as trained and with shared keys and values."""
    most = max(*before, *after, 0.0) or 1.0
    return chart(
        [
            charts.bars(
                list(values),
                list(range(len(tokens))),
                name,
                colour,
                across=True,
                numbers=".1%",
                customdata=[label(t, 30) for t in tokens],
                hover="%{customdata}: %{x:.2%}",
            )
            for values, name, colour in (
                (before, _("as trained"), ROLES["reference"]),
                (after, _("shared"), ROLES["changed"]),
            )
        ],
        axis(_("probability"), tickformat=".0%", range=[0, 1.15 * most]),  # with room for the numbers beside the bars
        token_axis(tokens, autorange="reversed", zeroline=False),
        height=max(220, 44 * len(tokens) + 70),
        bargap=0.25,
    )
