"""Rows of weights as bars on one scale: the picture that the canvas moves, for saving."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from plotly.subplots import make_subplots

from attnviz.figures.theme import THEORY, Figure, layout
from attnviz.words import _


def rows_of_bars(rows: Sequence[tuple[str, str, np.ndarray]], height: int = 280) -> Figure:
    """Each of `rows` (name, colour, weights (n,)) beside the others, from 0 to 1; dashed: even weights."""
    fig = make_subplots(1, len(rows), subplot_titles=[name for name, _colour, _weights in rows], shared_yaxes=True)
    for column, (name, colour, weights) in enumerate(rows, start=1):
        keys = np.arange(1, len(weights) + 1)
        bars = {"type": "bar", "x": keys, "y": weights, "marker": {"color": colour, "line": {"width": 0}}, "name": name}
        fig.add_trace(bars, 1, column)
    fig.add_hline(y=1 / max(1, len(rows[0][2])), line={"color": THEORY, "dash": "dash", "width": 1})
    fig.update_xaxes(title_text=_("key"))
    fig.update_yaxes(range=[0, 1.02])
    fig = layout(fig, height=height)
    fig.update_layout(showlegend=False, margin={"t": 36})
    return fig
