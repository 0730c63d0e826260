"""A map of patches: which layer and which token carry the difference between two prompts."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from attnviz.base.rounding import Rounded
from attnviz.base.words import _
from attnviz.figures.heatmap import as_typed, label
from attnviz.figures.theme import SIGNED, THEORY, Figure, layout


def patch_map(shares: np.ndarray, exact: np.ndarray, linear: np.ndarray, tokens: Sequence[str]) -> Figure:
    """Shares (layers, tokens) of the difference that a patch gives back, the first layer at the bottom.

    A dot stands in each cell that `exact` has a number for; the others are `linear`, to first order.
    """
    layers, count = shares.shape
    known = np.argwhere(~np.isnan(exact) & (linear != 0))
    words = [
        [
            _("layer {layer}, “{token}”").format(layer=layer, token=as_typed(tokens[at]))
            + f"<br><b>{Rounded(shares[layer, at]):.1%}</b> "
            + (_("linearised") if np.isnan(exact[layer, at]) else _("exact"))
            for at in range(count)
        ]
        for layer in range(layers)
    ]
    fig = go.Figure(
        go.Heatmap(
            z=np.asarray(shares, np.float32),
            zmin=-1,
            zmax=1,
            colorscale=SIGNED,
            colorbar={"thickness": 10, "outlinewidth": 0, "tickformat": ".0%", "len": 1.0},
            text=words,
            hovertemplate="%{text}<extra></extra>",
            xgap=1,
            ygap=1,
        )
    )
    fig.add_trace(
        go.Scatter(
            x=known[:, 1].tolist(),
            y=known[:, 0].tolist(),
            mode="markers",
            marker={"size": 3, "color": THEORY},
            hoverinfo="skip",
            showlegend=False,
        )
    )
    ticks = list(range(0, layers, 5 if layers > 12 else 1))
    fig.update_xaxes(
        tickvals=list(range(count)), ticktext=[label(each, 14) for each in tokens], showgrid=False, zeroline=False
    )
    fig.update_yaxes(tickvals=ticks, title_text=_("layer"), showgrid=False, zeroline=False, range=[-0.5, layers - 0.5])
    fig.update_layout(dragmode=False)
    return layout(fig, height=int(np.clip(110 + 13 * layers, 360, 560)))
