"""Figures of the page Explore: one query's steps through attention."""

from collections.abc import Sequence

import numpy as np

from attnviz.base.words import _
from attnviz.figures.chart import THIN_BAR, Panel, axis, cells, panels
from attnviz.figures.heatmap import token_axis
from attnviz.figures.theme import SIGNED, V_GREEN, Figure

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
