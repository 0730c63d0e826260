"""What the explorer draws with: one query's way through attention, several pictures in a row, all heads of a model."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from attnviz.base.words import _
from attnviz.figures.heatmap import label
from attnviz.figures.theme import K_VERMILION, MASKED, Q_BLUE, SCORES, SIGNED, V_GREEN, Figure, layout

MOST_KEYS = 24  #: contributions that are drawn, at most
GAP, GROUP_GAP, EDGE, HEAD = 3, 8, 56, 46


def products(q: np.ndarray, k: np.ndarray, query: str, key: str) -> Figure:
    """q, k and their elementwise product over the head's width, each row on its own scale."""
    product = q * k
    rows: list[tuple[np.ndarray, Any, str]] = [
        (q, Q_BLUE, _("q of {token}").format(token=label(query))),
        (k, K_VERMILION, _("k of {token}").format(token=label(key))),
        (product, np.where(product < 0, SCORES[1][1], SCORES[3][1]), _("q × k")),
    ]
    fig = _bars_in_rows(rows, "[%{x}] %{y:.4f}<extra></extra>", 0.09)
    fig.update_yaxes(zeroline=True)
    fig.update_xaxes(title=_("component, 0 to {last}").format(last=len(q) - 1), row=3, col=1)
    return layout(fig, height=360)


def row_steps(
    tokens: Sequence[str], scores: np.ndarray, scaled: np.ndarray, masked: np.ndarray, weights: np.ndarray, key: int
) -> Figure:
    """Scores, scaled, masked and weights of one query over all keys; the chosen key stands out."""
    colours = np.where(np.arange(len(tokens)) == key, K_VERMILION, Q_BLUE)
    steps = {_("q·k"): scores, _("× scale"): scaled, _("masked"): masked, _("softmax"): weights}
    rows = [(np.where(np.isfinite(values), values, np.nan), colours, name) for name, values in steps.items()]
    fig = _bars_in_rows(rows, "%{x}: %{y:.4f}<extra></extra>", 0.05)
    for position in np.flatnonzero(~np.isfinite(masked))[:400]:
        fig.add_vrect(x0=position - 0.5, x1=position + 0.5, fillcolor=MASKED, opacity=0.3, line_width=0, row=3, col=1)
    step = max(1, -(-len(tokens) // 40))
    text = [label(t) if i % step == 0 else "" for i, t in enumerate(tokens)]
    fig.update_xaxes(tickvals=list(range(len(tokens))), ticktext=text, row=4, col=1)
    fig.update_yaxes(range=[0, 1], row=4, col=1)
    return layout(fig, height=460)


def _bars_in_rows(rows: Sequence[tuple[np.ndarray, Any, str]], hover: str, gap: float) -> Figure:
    """Charts of bars one below the other; each row has values, colours and a name."""
    fig = make_subplots(rows=len(rows), cols=1, shared_xaxes=True, vertical_spacing=gap)
    for number, (values, colours, name) in enumerate(rows, 1):
        fig.add_trace(go.Bar(y=values, marker_color=colours, name=name, hovertemplate=hover), row=number, col=1)
        fig.update_yaxes(title={"text": name, "font": {"size": 12}}, row=number, col=1)
    fig.update_layout(showlegend=False, bargap=0.15)
    return fig


def weighted_values(tokens: Sequence[str], weighted: np.ndarray, output: np.ndarray) -> Figure:
    """The largest contributions weight x value (K, Dv), and below them their sum, the head's output."""
    order = np.sort(np.argsort(-np.linalg.norm(weighted, axis=1), kind="stable")[:MOST_KEYS])
    top = float(max(np.abs(weighted).max(initial=0), np.abs(output).max(initial=0))) or 1.0
    fig = make_subplots(rows=2, cols=1, row_heights=[max(1, len(order)), 2], vertical_spacing=0.06, shared_xaxes=True)
    scale = {"colorscale": SIGNED, "zmin": -top, "zmax": top}
    bar = {"title": {"text": _("value"), "side": "right"}, "thickness": 12, "outlinewidth": 0}
    hover = "%{y} [%{x}]: %{z:.4f}<extra></extra>"
    fig.add_trace(go.Heatmap(z=weighted[order], hovertemplate=hover, colorbar=bar, **scale), row=1, col=1)
    fig.add_trace(go.Heatmap(z=output[None], hovertemplate=hover, showscale=False, **scale), row=2, col=1)
    fig.update_yaxes(
        tickvals=list(range(len(order))), ticktext=[label(tokens[i]) for i in order], autorange="reversed", row=1, col=1
    )
    fig.update_yaxes(tickvals=[0], ticktext=[_("output")], color=V_GREEN, row=2, col=1)
    fig.update_xaxes(title=_("component of the value"), row=2, col=1)
    return layout(fig, height=int(120 + 22 * (len(order) + 2)))
