"""Figures of the page Explore: one query's steps through attention."""

from collections.abc import Sequence

import numpy as np

from attnviz.base.words import _
from attnviz.figures.chart import BARE, THIN_BAR, Panel, axis, cells, chart, line, panels
from attnviz.figures.heatmap import token_axis
from attnviz.figures.theme import K_VERMILION, Q_BLUE, SIGNED, V_GREEN, Figure

ARC_POINTS = 40
MOST_KEYS = 24  #: contributions that are drawn, at most


def weighted_values(tokens: Sequence[str], weighted: np.ndarray, output: np.ndarray) -> Figure:
    """Heatmap of the largest contributions, weight times value (K, Dv), above their sum, the head's output (Dv,)."""
    order = np.sort(np.argsort(-np.linalg.norm(weighted, axis=1), kind="stable")[:MOST_KEYS])
    top = float(max(np.abs(weighted).max(initial=0), np.abs(output).max(initial=0))) or 1.0
    bar, hover = THIN_BAR | {"title": {"text": _("value"), "side": "right"}}, "%{y} [%{x}]: %{z:.4f}"
    return panels(
        [
            Panel(
                [cells(weighted[order], SIGNED, -top, top, bar=bar, hover=hover)],
                y=token_axis([tokens[i] for i in order], autorange="reversed"),
            ),
            Panel(
                [cells(output[None], SIGNED, -top, top, hover=hover)],
                axis(_("component of the value")),
                axis(labels={0: _("output")}, color=V_GREEN),
            ),
        ],
        1,
        spacing={"row_heights": [max(1, len(order)), 2], "vertical_spacing": 0.06, "shared_xaxes": True},
        height=int(120 + 22 * (len(order) + 2)),
    )


def token_arcs(tokens: Sequence[str], arcs: Sequence[tuple[int, int, float, str]]) -> Figure:
    """Tokens with arcs above them, (from, to, value, "q" or "k"): where a query looks, and where a key was made."""
    turn = np.linspace(0, np.pi, ARC_POINTS)
    series, most = [], max(abs(end - start) for start, end, _value, _side in arcs)
    for start, end, value, side in arcs:
        x, y = (start + end) / 2 - np.cos(turn) * (end - start) / 2, np.sin(turn) * abs(end - start)
        name = _("the query looks at the key") if side == "q" else _("what wrote the key was read here")
        hover = f"{value:.1%}" if side == "q" else f"{value:+.2f}"
        series.append(line(x, y, name, Q_BLUE if side == "q" else K_VERMILION, width=5, hover=f"{name}: {hover}"))
    return chart(
        series,
        token_axis(tokens, 40, range=[-0.6, len(tokens) - 0.4], ticks="", autotickangles=[0, -45, -90]) | BARE,
        axis(showticklabels=False, range=[0, 1.1 * most], ticks="") | BARE,
        height=190,
        legend={"y": 1.02, "yanchor": "bottom", "orientation": "h"},
    )
