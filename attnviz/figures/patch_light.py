"""Light over the patches of a picture in a chart: its colour, numbers on hover, and axes that keep patches square."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from attnviz.figures.theme import Figure

GLOW = "#FFA614"  #: as on the page about pictures


def hover_points(x: np.ndarray, y: np.ndarray, told: np.ndarray, says: str, size: int) -> go.Scatter:
    """Points that are not seen, in the middle of each patch; `says` speaks of the columns of `told`."""
    return go.Scatter(
        x=x,
        y=y,
        mode="markers",
        marker={"size": size, "opacity": 0},
        customdata=told,
        showlegend=False,
        hovertemplate=says + "<extra></extra>",
    )


def picture_axes(fig: Figure, shape: tuple[int, ...], number: int, place: dict[str, Any]) -> None:
    """Axes of the `number`-th panel, counted from 1, for a picture (height, width): no ticks, the first row above."""
    axis = {"showgrid": False, "zeroline": False, "showticklabels": False, "ticks": "", "constrain": "domain"}
    anchor = f"x{number if number > 1 else ''}"
    fig.update_xaxes(**axis, range=[-0.5, shape[1] - 0.5], **place)
    fig.update_yaxes(**axis, range=[shape[0] - 0.5, -0.5], scaleanchor=anchor, **place)
