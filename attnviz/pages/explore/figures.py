"""Figures of the page Explore: one query's steps through attention."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from attnviz.base.words import _
from attnviz.figures.chart import THIN_BAR, Panel, Series, axis, bars, cells, panels
from attnviz.figures.heatmap import label, token_axis
from attnviz.figures.theme import K_VERMILION, MASKED, Q_BLUE, SCORES, SIGNED, V_GREEN, Figure

MOST_KEYS = 24  #: contributions that are drawn, at most


def product_strips(q: np.ndarray, k: np.ndarray, query: str, key: str) -> Figure:
    """Bars of q, k and their elementwise product, each (D,), each row on its own scale."""
    signs = np.where(q * k < 0, SCORES[1][1], SCORES[3][1])
    x = axis(_("component, 0 to {last}").format(last=len(q) - 1))
    hover, zero = "[%{x}] %{y:.4f}", {"zeroline": True}
    rows = [
        _make_row(q, Q_BLUE, _("q of {token}").format(token=label(query)), hover, y=zero),
        _make_row(k, K_VERMILION, _("k of {token}").format(token=label(key)), hover, y=zero),
        _make_row(q * k, signs, _("q × k"), hover, x, zero),
    ]
    return _stack_rows(rows, 0.09, 360)


def row_steps(
    tokens: Sequence[str], scores: np.ndarray, scaled: np.ndarray, masked: np.ndarray, weights: np.ndarray, key: int
) -> Figure:
    """Bars of scores, scaled, masked and weights of one query, each (K,); the chosen key is highlighted."""
    colours = np.where(np.arange(len(tokens)) == key, K_VERMILION, Q_BLUE)
    grey = {"type": "rect", "y0": 0, "y1": 1, "yref": "y domain", "fillcolor": MASKED, "opacity": 0.3}
    hidden = [
        grey | {"x0": position - 0.5, "x1": position + 0.5, "line": {"width": 0}}
        for position in np.flatnonzero(~np.isfinite(masked))[:400]
    ]
    hover, key_axis = "%{x}: %{y:.4f}", token_axis(tokens, 40)
    rows = [
        _make_row(scores, colours, _("q·k"), hover),
        _make_row(scaled, colours, _("× scale"), hover),
        _make_row(masked, colours, _("masked"), hover)._replace(marks=hidden),
        _make_row(weights, colours, _("softmax"), hover, key_axis, {"range": [0, 1]}),
    ]
    return _stack_rows(rows, 0.05, 460)


def _make_row(
    values: np.ndarray,
    colours: Any,
    name: str,
    hover: str,
    x: dict[str, Any] | None = None,
    y: dict[str, Any] | None = None,
) -> Panel:
    finite = np.where(np.isfinite(values), values, np.nan)
    bar_series: Series = bars(None, finite, name, colours, hover=f"{hover}<extra></extra>")
    return Panel([bar_series], x or {}, axis(name, 12) | (y or {}))


def _stack_rows(rows: Sequence[Panel], gap: float, height: int) -> Figure:
    spacing = {"shared_xaxes": True, "vertical_spacing": gap}
    return panels(rows, 1, spacing=spacing, height=height, showlegend=False, bargap=0.15)


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
