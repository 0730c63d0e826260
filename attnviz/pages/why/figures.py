"""Figures of the page that asks why: what each part adds to a logit, which parts carry an answer, which patches do."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnviz.base.rounding import Rounded
from attnviz.base.words import _
from attnviz.figures import title_lines
from attnviz.figures.chart import BARE, Series, axis, bars, cells, chart, line, mark_x, note, points
from attnviz.figures.heatmap import escape_markup, label, labels, token_axis
from attnviz.figures.theme import ALTERNATIVE, FONT, MASKED, PRIMARY, SCALED, SIGNED, THEORY, Figure

HEADS, MLPS, BELOW = SCALED, ALTERNATIVE, THEORY
N_NAMED = 10
BELOW_ALL = {"yref": "container", "y": 0, "yanchor": "bottom"}  #: a legend under the title of the x axis
ROW = 16  #: pixels of a layer: on a phone names of two layers do not touch


def layer_ticks(layers: int) -> list[int]:
    """The layers that an axis names."""
    return list(range(0, layers, 5 if layers > 12 else 1))


# What a model would say if it ended at a layer.
def lens_curves(
    ranks: np.ndarray, shares: np.ndarray, names: Sequence[str], likeliest: Sequence[str], *, title: str
) -> Figure:
    """Logit lens: rank of each target token at the input of each layer; rank 1 at the right.

    `ranks` and `shares`, its probability there, are (layers + 1, tokens); `likeliest` is the token of place 1.
    """
    layers, y = len(ranks) - 1, list(range(len(ranks)))
    strokes = ((PRIMARY[1], 3, None), (THEORY, 2, "dot"))
    hover = _("{token}: place {place}, {share}")
    curves = [
        line(
            ranks[:, column].tolist(),
            y,
            name,
            colour,
            width=width,
            dash=dash,
            dots=4,
            text=[f"{Rounded(share):.2%}" for share in shares[:, column]],
            hover=hover.format(token=name, place="%{x:,}", share="%{text}") + "<extra></extra>",
        )
        for column, (name, (colour, width, dash)) in enumerate(zip(map(escape_markup, names), strokes, strict=False))
    ]
    tokens = points(
        [0.7] * (layers + 1),
        y,
        text=[label(token, 12) if not at or token != likeliest[at - 1] else "" for at, token in enumerate(likeliest)],
        at="middle right",
        mode="text",
        textfont={"size": 11},
        hover="",
        showlegend=False,
    )
    worst = float(np.log10(max(10, ranks.max())))
    powers, reach = {10**n: f"{10**n:,}" for n in range(6)}, [worst + 0.1, -0.25 * worst]
    fig = chart(
        [*curves, tokens],
        axis(_("place among all tokens"), labels=powers, type="log", range=reach),
        axis(_("layer"), labels=layer_ticks(layers + 1), range=[-0.9, layers + 0.6], **BARE),
        height=int(np.clip(110 + ROW * layers, 360, 620)),
        title=escape_markup(title),
        legend=dict(BELOW_ALL),
        dragmode=False,
        showlegend=True,
    )
    return fig.update_layout(margin_t=title_lines.margin_above(fig, 34))


def source_bars(tokens: Sequence[str], values: np.ndarray, unit: str) -> Figure:
    """Bars of what one head adds from each source token, in sentence order."""
    rows, high = list(range(len(tokens))), int(np.clip(80 + 22 * len(tokens), 160, 460))
    named = dict(enumerate(labels(tokens, (high - 80) // 15, 18)))
    token_texts, hover = list(map(escape_markup, tokens)), "%{hovertext}: %{x:+.3f}"
    return chart(
        [bars(values.tolist(), rows, None, HEADS, across=True, hovertext=token_texts, hover=hover)],
        axis(escape_markup(unit)),
        axis(labels=named, autorange="reversed", showgrid=False),
        height=high,
    )


# A circuit: the heads that keep an answer, each over the token at which it acts, with what it reads from others.
@dataclass(frozen=True)
class Node:
    """A part: its name, the token and the layer where it stands, what it changes, and what it reads."""

    name: str
    position: int
    layer: int
    score: float
    reads: Sequence[tuple[int, float]] = ()
    is_mlp: bool = False


def draw_circuit(nodes: Sequence[Node], tokens: Sequence[str], answer: str, title: str) -> Figure:
    """Tokens side by side, the layers that have parts from the bottom up, a disc for each, its area what it changes.

    A line leads from a token that a head reads to the head, as wide as its weight; from each part up to the answer.
    """
    rows = {layer: n for n, layer in enumerate(sorted({node.layer for node in nodes}))}
    last, most = len(tokens) - 1, max((abs(node.score) for node in nodes), default=1.0) or 1.0
    upright = {"type": "line", "y0": -0.8, "y1": len(rows), "line": {"color": MASKED, "width": 1}, "opacity": 0.35}
    beside = _count_left_neighbours(nodes)
    places = [node.position + 0.42 * n for node, n in zip(nodes, beside, strict=True)]
    reads = [
        _read_line([source, source, x], [-0.8, rows[node.layer] - 0.7, rows[node.layer]], weight)
        for node, x in zip(nodes, places, strict=True)
        for source, weight in node.reads
        if source != node.position
    ]
    hover = _("{name}: {score:+.2f} at “{token}”")
    discs = points(
        places,
        [rows[node.layer] for node in nodes],
        None,
        [MLPS if node.is_mlp else HEADS if node.score > 0 else MASKED for node in nodes],
        size=[float(10 + 22 * np.sqrt(abs(node.score) / most)) for node in nodes],
        symbol=["square" if node.is_mlp else "circle" for node in nodes],
        marker={"line": {"width": 1, "color": "white"}},
        text=[node.name for node in nodes],
        at=["bottom center" if n % 2 else "top center" for n in beside],
        textfont={"size": 12, "family": FONT},
        hovertext=[
            hover.format(name=node.name, score=node.score, token=escape_markup(tokens[node.position])) for node in nodes
        ],
        hover="%{hovertext}",
        customdata=list(range(len(nodes))),
        showlegend=False,
    )
    bold = {node.position for node in nodes} | {last}
    named = {at: f"<b>{label(t, 12)}</b>" if at in bold else label(t, 12) for at, t in enumerate(tokens)}
    large = {"size": 15, "color": PRIMARY[1]}
    return chart(
        [*reads, discs],
        axis(labels=named, range=[-0.6, last + 1.2], **BARE),
        axis(_("layer"), labels={n: str(layer) for layer, n in rows.items()}, range=[-0.9, len(rows) + 0.3], **BARE),
        height=460,
        title=escape_markup(title),
        marks=[upright | {"x0": at, "x1": at} for at in range(len(tokens))],
        notes=[note(last, len(rows) - 0.1, f"<b>{escape_markup(answer)}</b>", font=large)],
        dragmode="pan",
    )


def _read_line(x: list[float], y: list[float], weight: float) -> Series:
    return line(x, y, None, SCALED, width=1 + 6 * weight, opacity=0.4, hover="", showlegend=False)


def _count_left_neighbours(nodes: Sequence[Node]) -> list[int]:
    """For each node, the number of earlier nodes at the same layer and token."""
    positions = [(node.position, node.layer) for node in nodes]
    return [positions[:n].count(position) for n, position in enumerate(positions)]


def faithfulness_curve(sizes: Sequence[int], faithfulness: Sequence[float], chosen: int) -> Figure:
    """Faithfulness over circuit size."""
    x, hover = list(sizes[: len(faithfulness)]), _("{n} parts keep {share}").format(n="%{customdata}", share="%{y:.0%}")
    named = {n + 1: str(n) for n in (0, 1, 2, 5, 10, 20, 50, 100, 200, 500) if n <= sizes[-1]}
    reach = [-0.05, float(np.log10(sizes[-1] + 1)) + 0.05]
    line_style: dict[str, Any] = {"customdata": x, "hover": hover, "showlegend": False}
    return chart(
        [line([size + 1 for size in x], list(faithfulness), None, SCALED, width=2, dots=True, **line_style)],
        axis(_("parts kept"), labels=named, type="log", range=reach),
        axis(_("of the lead is kept"), tickformat=".0%"),
        height=460,
        title=_("What so few keep"),
        marks=[mark_x(chosen + 1, PRIMARY[1], width=2)],
        dragmode=False,
    )


# A map of patches: which layer and which token carry the difference between two prompts.
def patch_map(shares: np.ndarray, exact: np.ndarray, linear: np.ndarray, tokens: Sequence[str]) -> Figure:
    """Shares (layers, tokens) of the difference that a patch gives back, the first layer at the bottom.

    A dot stands in each cell that `exact` has a number for; the others are `linear`, to first order.
    """
    layers, count = shares.shape
    known = np.argwhere(~np.isnan(exact) & (linear != 0))
    cell_texts = [
        [
            _("layer {layer}, “{token}”").format(layer=layer, token=escape_markup(tokens[at]))
            + f"<br><b>{Rounded(shares[layer, at]):.1%}</b> "
            + (_("linearised") if np.isnan(exact[layer, at]) else _("exact"))
            for at in range(count)
        ]
        for layer in range(layers)
    ]
    bar = {"thickness": 10, "outlinewidth": 0, "tickformat": ".0%", "len": 1.0}
    x, y = known[:, 1].tolist(), known[:, 0].tolist()
    return chart(
        [
            cells(np.asarray(shares, np.float32), SIGNED, -1, 1, bar=bar, text=cell_texts, gap=1, hover="%{text}"),
            points(x, y, None, THEORY, size=3, hover="", showlegend=False),
        ],
        token_axis(tokens, **BARE),
        axis(_("layer"), labels=layer_ticks(layers), range=[-0.5, layers - 0.5], **BARE),
        height=int(np.clip(110 + 13 * layers, 360, 560)),
        dragmode=False,
    )
