"""Maps of layers by heads, one for each thing that was measured of every head."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.graph_objects import Figure
from plotly.subplots import make_subplots

from attnviz.base.words import _
from attnviz.figures.theme import SIGNED, WEIGHTS, layout


def head_maps(grids: Mapping[str, np.ndarray], layers: Sequence[int] | None = None, signed: bool = False) -> Figure:
    """One map (layers, heads) beside the other, the first layer at the bottom, all on one scale.

    The scale goes from 0 to 1, or with `signed` as far below 0 as above it.
    """
    rows = list(range(len(next(iter(grids.values()))))) if layers is None else list(layers)
    fig = make_subplots(1, len(grids), subplot_titles=[name.replace("_", " ") for name in grids], shared_yaxes=True)
    most = max((float(np.nanmax(np.abs(grid), initial=0.0)) for grid in grids.values()), default=0.0) or 1.0
    for number, (name, grid) in enumerate(grids.items(), 1):
        fig.add_trace(
            go.Heatmap(
                z=np.asarray(grid, np.float32),
                y=[str(layer) for layer in rows],
                x=[str(head) for head in range(np.shape(grid)[1])],
                coloraxis="coloraxis",
                hoverongaps=False,
                xgap=1,
                ygap=1,
                name=name,
                hovertemplate=_("layer {layer}, head {head}").format(layer="%{y}", head="%{x}")
                + "<br><b>%{z:.4f}</b><extra></extra>",
            ),
            row=1,
            col=number,
        )
    bounds = {"cmin": -most, "cmax": most} if signed else {"cmin": 0.0, "cmax": 1.0}
    scale = SIGNED if signed else WEIGHTS
    fig.update_layout(coloraxis={"colorscale": scale, "colorbar": {"thickness": 12, "outlinewidth": 0}, **bounds})
    fig.update_xaxes(title_text=_("head"), type="category")
    fig.update_yaxes(type="category")
    fig.update_yaxes(title_text=_("layer"), col=1)
    return layout(fig, " ", int(np.clip(110 + 16 * len(rows), 240, 620)))
