"""One query on its way through attention: vectors, scores, weights, values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from attnviz.base.words import _
from attnviz.figures import svg
from attnviz.figures.heatmap import label
from attnviz.figures.picture import Picture
from attnviz.figures.svg import Drawn, Ink
from attnviz.figures.theme import K_VERMILION, MASKED, Q_BLUE, SCORES, SIGNED, V_GREEN, Figure, layout
from attnviz.figures.title_lines import wrapped

MOST_KEYS = 24  #: contributions that are drawn, at most


def products(q: np.ndarray, k: np.ndarray, query: str, key: str) -> Figure:
    """q, k and their elementwise product over the head's width, each row on its own scale."""
    fig = make_subplots(rows=3, cols=1, shared_xaxes=True, vertical_spacing=0.09)
    rows = [
        (q, Q_BLUE, _("q of {token}").format(token=label(query))),
        (k, K_VERMILION, _("k of {token}").format(token=label(key))),
        (q * k, MASKED, _("q × k")),
    ]
    for number, (values, colour, name) in enumerate(rows, 1):
        colours = colour if number < 3 else np.where(values < 0, SCORES[1][1], SCORES[3][1])
        bar = go.Bar(y=values, marker_color=colours, name=name, hovertemplate="[%{x}] %{y:.4f}<extra></extra>")
        fig.add_trace(bar, row=number, col=1)
        fig.update_yaxes(title={"text": name, "font": {"size": 12}}, row=number, col=1, zeroline=True)
    fig.update_xaxes(title=_("component, 0 to {last}").format(last=len(q) - 1), row=3, col=1)
    fig.update_layout(showlegend=False, bargap=0.15)
    return layout(fig, height=360)


def row_steps(
    tokens: Sequence[str], scores: np.ndarray, scaled: np.ndarray, masked: np.ndarray, weights: np.ndarray, key: int
) -> Figure:
    """Scores, scaled, masked and weights of one query over all keys; the chosen key stands out."""
    fig = make_subplots(rows=4, cols=1, shared_xaxes=True, vertical_spacing=0.05)
    hidden = ~np.isfinite(masked)
    names = [_("q·k"), _("× scale"), _("masked"), _("softmax")]
    for number, (values, name) in enumerate(zip((scores, scaled, masked, weights), names, strict=True), 1):
        shown = np.where(np.isfinite(values), values, np.nan)
        colours = np.where(np.arange(len(values)) == key, K_VERMILION, Q_BLUE)
        fig.add_trace(
            go.Bar(y=shown, marker_color=colours, name=name, hovertemplate="%{x}: %{y:.4f}<extra></extra>"),
            row=number,
            col=1,
        )
        fig.update_yaxes(title={"text": name, "font": {"size": 12}}, row=number, col=1)
        if number == 3:
            for position in np.flatnonzero(hidden)[:400]:
                fig.add_vrect(
                    x0=position - 0.5, x1=position + 0.5, fillcolor=MASKED, opacity=0.3, line_width=0, row=3, col=1
                )
    step = max(1, -(-len(tokens) // 40))
    text = [label(t) if i % step == 0 else "" for i, t in enumerate(tokens)]
    fig.update_xaxes(tickvals=list(range(len(tokens))), ticktext=text, row=4, col=1)
    fig.update_yaxes(range=[0, 1], row=4, col=1)
    fig.update_layout(showlegend=False, bargap=0.15)
    return layout(fig, height=460)


def weighted_values(tokens: Sequence[str], weighted: np.ndarray, output: np.ndarray) -> Figure:
    """The largest contributions weight x value (K, Dv), and below them their sum, the head's output."""
    order = np.argsort(-np.linalg.norm(weighted, axis=1), kind="stable")[:MOST_KEYS]
    order = np.sort(order)
    top = float(max(np.abs(weighted).max(initial=0), np.abs(output).max(initial=0))) or 1.0
    fig = make_subplots(rows=2, cols=1, row_heights=[max(1, len(order)), 2], vertical_spacing=0.06, shared_xaxes=True)
    scale = {"colorscale": SIGNED, "zmin": -top, "zmax": top}
    bar = {"title": {"text": _("value"), "side": "right"}, "thickness": 12, "outlinewidth": 0}
    hover = "%{y} [%{x}]: %{z:.4f}<extra></extra>"
    fig.add_trace(go.Heatmap(z=weighted[order], hovertemplate=hover, colorbar=bar, **scale), row=1, col=1)
    fig.add_trace(go.Heatmap(z=output[None], hovertemplate=hover, showscale=False, **scale), row=2, col=1)
    names = [label(tokens[i]) for i in order]
    fig.update_yaxes(tickvals=list(range(len(order))), ticktext=names, autorange="reversed", row=1, col=1)
    fig.update_yaxes(tickvals=[0], ticktext=[_("output")], color=V_GREEN, row=2, col=1)
    fig.update_xaxes(title=_("component of the value"), row=2, col=1)
    return layout(fig, height=int(120 + 22 * (len(order) + 2)))


GAP, LINE = 28, 18


@dataclass(frozen=True)
class RowPicture:
    """`pictures` from left to right; their own titles become their names."""

    pictures: Sequence[Picture]
    title: str = ""

    def drawn(self, ink: Ink, bar: bool = True) -> Drawn:
        """The picture without title and caption."""
        drawn = [picture.drawn(ink, bar) for picture in self.pictures]
        names = [
            wrapped(each.title, max(12.0, one.width / 7.6)) for each, one in zip(self.pictures, drawn, strict=True)
        ]
        above = LINE * max((len(lines) for lines in names), default=0) + 6
        x, parts = 0.0, []
        for lines, one in zip(names, drawn, strict=True):
            parts += [svg.words(text, x, LINE * (at + 0.5), size=13, weight=600) for at, text in enumerate(lines)]
            parts.append(f'<g transform="translate({svg.number(x)} {above})">{"".join(one.parts)}</g>')
            x += one.width + GAP
        return Drawn(max(0.0, x - GAP), above + max((one.height for one in drawn), default=0), parts)
