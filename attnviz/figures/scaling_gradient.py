"""The softmax Jacobian: as a heatmap on one scale for all, and its eigenvalues."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from attnviz.figures.theme import SIGNED, Figure, layout
from attnviz.words import _

#: No entry of diag(p) - p pT is larger: p (1 - p) at p = 1/2.
LARGEST = 0.25


def jacobian(matrix: np.ndarray, keys: Sequence[int], title: str, full_range: bool = True) -> Figure:
    """d weight (rows) / d logit (columns), `keys` numbered from 1; colours from -1/4 to 1/4, or to the largest."""
    top = LARGEST if full_range else max(float(np.abs(matrix).max()), 1e-12)
    few = len(keys) <= 16
    gap = 1 if few else 0
    fig = go.Figure(
        go.Heatmap(
            z=matrix.astype(np.float32),
            colorscale=SIGNED,
            zmin=-top,
            zmax=top,
            xgap=gap,
            ygap=gap,
            customdata=np.broadcast_to(np.array(keys), matrix.shape),
            hovertemplate=_("weight of key %{y}, logit of key %{x}: %{z:.3g}") + "<extra></extra>",
            colorbar={"thickness": 12, "len": 0.95, "outlinewidth": 0, "tickformat": ".2g", "nticks": 5},
        )
    )
    step = max(1, len(keys) // 8)
    at = list(range(0, len(keys), step))
    axis = {"tickvals": at, "ticktext": [str(keys[i]) for i in at], "showgrid": False, "zeroline": False}
    fig.update_xaxes(title_text=_("logit of key"), constrain="domain", **axis)
    fig.update_yaxes(title_text=_("weight of key"), autorange="reversed", scaleanchor="x", constrain="domain", **axis)
    return layout(fig, title, 380)


def eigenvalues(spectra: Sequence[tuple[str, str, np.ndarray]]) -> Figure:
    """Eigenvalues by rank for each (name, colour, values largest first), on a log axis; below 1e-12 they count as 0."""
    fig = go.Figure()
    for name, colour, values in spectra:
        seen = np.where(values > 1e-12, values, np.nan)
        fig.add_scatter(
            x=np.arange(1, len(values) + 1),
            y=seen,
            mode="lines+markers",
            line={"color": colour, "width": 2},
            marker={"size": 7},
            name=name,
            hovertemplate=_("eigenvalue %{x}: %{y:.3g}") + f"<extra>{name}</extra>",
        )
    fig.update_xaxes(title_text=_("rank"), rangemode="tozero")
    fig.update_yaxes(type="log", title_text=_("eigenvalue"), exponentformat="power", range=[-12.3, 0], dtick=2)
    return layout(fig, height=300)
