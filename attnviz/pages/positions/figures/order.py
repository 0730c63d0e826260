"""How much the outputs change when words change places, for every way in which positions come in."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from attnviz.base.words import _
from attnviz.figures.theme import RAW, SCALED, THEORY, Figure, layout

FLOOR = 1e-17  #: drawn in place of an exact 0 on the log axis


def changes(kinds: Sequence[str], free: np.ndarray, causal: np.ndarray, rounding: float = 1e-9) -> Figure:
    """One row a kind: the largest change of an output without a mask, and with a causal one, on a log axis."""
    fig = go.Figure()
    for name, values, colour, symbol in (
        (_("no mask"), free, SCALED, "circle"),
        (_("causal mask"), causal, RAW, "diamond"),
    ):
        fig.add_scatter(
            x=np.maximum(values, FLOOR),
            y=list(kinds),
            mode="markers",
            marker={"color": colour, "size": 12, "symbol": symbol},
            name=name,
            customdata=values,
            hovertemplate="%{y}: %{customdata:.3g}<extra>" + name + "</extra>",
        )
    fig.add_vline(x=rounding, line={"color": THEORY, "width": 1, "dash": "dot"})
    fig.update_xaxes(
        type="log", range=[-17.3, 1.6], dtick=4, exponentformat="power", title_text=_("largest change of an output")
    )
    fig.update_yaxes(autorange="reversed", showgrid=True, type="category")
    return layout(fig, height=330)
