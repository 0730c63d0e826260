"""A circuit: the heads that keep an answer, each over the token at which it acts, with what it reads from others."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from attnviz.base.words import _
from attnviz.figures.heatmap import label
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


def graph(nodes: Sequence[Node], tokens: Sequence[str], layers: int, answer: str, title: str) -> Figure:
    """Tokens side by side, layers from the bottom up, a disc for each part, its area what it changes.

    A line leads from a token that a head reads to the head, as wide as its weight; from each part up to the answer.
    """
    fig = go.Figure()
    last, most = len(tokens) - 1, max((abs(node.score) for node in nodes), default=1.0) or 1.0
    for at in range(len(tokens)):
        fig.add_shape(type="line", x0=at, x1=at, y0=-0.8, y1=layers, line={"color": MASKED, "width": 1}, opacity=0.35)
    places = _apart(nodes)
    for node, x in zip(nodes, places, strict=True):
        for source, weight in node.reads:
            if source != node.position:
                fig.add_trace(_line([source, source, x], [-0.8, max(-0.8, node.layer - 4), node.layer], 1 + 6 * weight))
    shown = sorted({node.position for node in nodes} | {last})
    fig.add_trace(
        go.Scatter(
            x=places,
            y=[node.layer for node in nodes],
            mode="markers+text",
            marker={
                "size": [float(10 + 22 * np.sqrt(abs(node.score) / most)) for node in nodes],
                "color": [MLP if node.is_mlp else FOR if node.score > 0 else AGAINST for node in nodes],
                "symbol": ["square" if node.is_mlp else "circle" for node in nodes],
                "line": {"width": 1, "color": "white"},
            },
            text=[node.name for node in nodes],
            textposition="top center",
            textfont={"size": 12, "family": FONT},
            hovertext=[
                _("{name}: {score:+.2f} at “{token}”").format(
                    name=node.name, score=node.score, token=tokens[node.position]
                )
                for node in nodes
            ],
            hovertemplate="%{hovertext}<extra></extra>",
            customdata=list(range(len(nodes))),
            showlegend=False,
        )
    )
    look = {"showarrow": False, "font": {"size": 15, "color": PRIMARY[1]}}
    fig.add_annotation(x=last, y=layers + 2.4, text=f"<b>{answer}</b>", **look)
    fig.update_xaxes(
        tickvals=list(range(len(tokens))),
        ticktext=[f"<b>{label(t, 12)}</b>" if at in shown else label(t, 12) for at, t in enumerate(tokens)],
        range=[-0.6, last + 1.2],
        showgrid=False,
        zeroline=False,
    )
    fig.update_yaxes(title_text=_("layer"), range=[-1.2, layers + 3.4], showgrid=False, zeroline=False)
    fig.update_layout(dragmode="pan")
    return layout(fig, title, 460)


def _line(x: list[float], y: list[float], width: float) -> go.Scatter:
    look = {"color": SCALED, "width": width}
    return go.Scatter(x=x, y=y, mode="lines", line=look, opacity=0.4, hoverinfo="skip", showlegend=False)


def _apart(nodes: Sequence[Node]) -> list[float]:
    """Where each part stands across: over its token, and parts of one layer and token beside each other."""
    seen: dict[tuple[int, int], int] = {}
    places = []
    for node in nodes:
        beside = seen.get((node.position, node.layer), 0)
        seen[node.position, node.layer] = beside + 1
        places.append(node.position + 0.42 * beside)
    return places


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
