"""How far back a head looks, before and after its rotation was changed."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from attnviz.base.words import _
from attnviz.figures.theme import MASKED, SCALED, Figure, layout


def over_distance(before: np.ndarray, after: np.ndarray) -> Figure:
    """Mean weight on the key so many tokens back, as trained and changed, side by side."""
    fig = go.Figure()
    for values, name, colour in ((before, _("as trained"), MASKED), (after, _("changed"), SCALED)):
        fig.add_bar(
            x=np.arange(len(values)),
            y=values,
            name=name,
            marker={"color": colour, "line": {"width": 0}},
            hovertemplate=_("%{x} tokens back: %{y:.1%}") + f"<extra>{name}</extra>",
        )
    fig.update_layout(barmode="group")
    fig.update_xaxes(title_text=_("tokens back"), zeroline=False)
    fig.update_yaxes(title_text=_("mean weight"), tickformat=".0%", rangemode="tozero")
    return layout(fig, height=330)
