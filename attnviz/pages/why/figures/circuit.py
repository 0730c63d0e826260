"""A circuit: the heads that keep an answer, each over the token at which it acts, with what it reads from others."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from attnviz.base.words import _
from attnviz.figures.heatmap import as_typed, label
from attnviz.figures.theme import ALTERNATIVE, FONT, MASKED, PRIMARY, SCALED, Figure, layout

FOR, AGAINST, MLP = SCALED, MASKED, ALTERNATIVE


@dataclass(frozen=True)
class Node:
    """A part: its name, the token and the layer where it stands, what it changes, and what it reads."""

    name: str
    position: int
    layer: int
    score: float
    reads: Sequence[tuple[int, float]] = ()
    is_mlp: bool = False


def graph(nodes: Sequence[Node], tokens: Sequence[str], answer: str, title: str) -> Figure:
    """Tokens side by side, the layers that have parts from the bottom up, a disc for each, its area what it changes.

    A line leads from a token that a head reads to the head, as wide as its weight; from each part up to the answer.
    """
    fig = go.Figure()
    rows = {layer: n for n, layer in enumerate(sorted({node.layer for node in nodes}))}
    last, most = len(tokens) - 1, max((abs(node.score) for node in nodes), default=1.0) or 1.0
    for at in range(len(tokens)):
        ends = {"x0": at, "x1": at, "y0": -0.8, "y1": len(rows)}
        fig.add_shape(type="line", **ends, line={"color": MASKED, "width": 1}, opacity=0.35)
    beside = _beside(nodes)
    places = [node.position + 0.42 * n for node, n in zip(nodes, beside, strict=True)]
    for node, x in zip(nodes, places, strict=True):
        for source, weight in node.reads:
            if source != node.position:
                fig.add_trace(_line([source, source, x], [-0.8, rows[node.layer] - 0.7, rows[node.layer]], weight))
    shown = sorted({node.position for node in nodes} | {last})
    fig.add_trace(
        go.Scatter(
            x=places,
            y=[rows[node.layer] for node in nodes],
            mode="markers+text",
            marker={
                "size": [float(10 + 22 * np.sqrt(abs(node.score) / most)) for node in nodes],
                "color": [MLP if node.is_mlp else FOR if node.score > 0 else AGAINST for node in nodes],
                "symbol": ["square" if node.is_mlp else "circle" for node in nodes],
                "line": {"width": 1, "color": "white"},
            },
            text=[node.name for node in nodes],
            textposition=["bottom center" if n % 2 else "top center" for n in beside],
            textfont={"size": 12, "family": FONT},
            hovertext=[
                _("{name}: {score:+.2f} at “{token}”").format(
                    name=node.name, score=node.score, token=as_typed(tokens[node.position])
                )
                for node in nodes
            ],
            hovertemplate="%{hovertext}<extra></extra>",
            customdata=list(range(len(nodes))),
            showlegend=False,
        )
    )
    look = {"showarrow": False, "font": {"size": 15, "color": PRIMARY[1]}}
    fig.add_annotation(x=last, y=len(rows) - 0.1, text=f"<b>{as_typed(answer)}</b>", **look)
    fig.update_xaxes(
        tickvals=list(range(len(tokens))),
        ticktext=[f"<b>{label(t, 12)}</b>" if at in shown else label(t, 12) for at, t in enumerate(tokens)],
        range=[-0.6, last + 1.2],
        showgrid=False,
        zeroline=False,
    )
    fig.update_yaxes(
        title_text=_("layer"),
        tickvals=list(rows.values()),
        ticktext=[str(layer) for layer in rows],
        range=[-0.9, len(rows) + 0.3],
        showgrid=False,
        zeroline=False,
    )
    fig.update_layout(dragmode="pan")
    return layout(fig, as_typed(title), 460)


def _line(x: list[float], y: list[float], weight: float) -> go.Scatter:
    look = {"color": SCALED, "width": 1 + 6 * weight}
    return go.Scatter(x=x, y=y, mode="lines", line=look, opacity=0.4, hoverinfo="skip", showlegend=False)


def _beside(nodes: Sequence[Node]) -> list[int]:
    """How many parts of the same layer and token each part stands to the right of."""
    places = [(node.position, node.layer) for node in nodes]
    return [places[:n].count(place) for n, place in enumerate(places)]


def curve(sizes: Sequence[int], kept: Sequence[float], chosen: int) -> Figure:
    """The share of the lead that the first parts keep, over how many they are."""
    fig = go.Figure(
        go.Scatter(
            x=[size + 1 for size in sizes[: len(kept)]],
            y=list(kept),
            mode="lines+markers",
            line={"color": SCALED, "width": 2},
            customdata=list(sizes[: len(kept)]),
            hovertemplate=_("{n} parts keep {share}").format(n="%{customdata}", share="%{y:.0%}") + "<extra></extra>",
            showlegend=False,
        )
    )
    fig.add_vline(x=chosen + 1, line={"color": PRIMARY[1], "width": 2, "dash": "dot"})
    ticks = [n for n in (0, 1, 2, 5, 10, 20, 50, 100, 200, 500) if n <= sizes[-1]]
    fig.update_xaxes(
        type="log", tickvals=[n + 1 for n in ticks], ticktext=[str(n) for n in ticks], title_text=_("parts kept"),
        range=[-0.05, float(np.log10(sizes[-1] + 1)) + 0.05],
    )  # fmt: skip
    fig.update_yaxes(tickformat=".0%", title_text=_("of the lead is kept"))
    fig.update_layout(dragmode=False)
    return layout(fig, _("What so few keep"), 460)
