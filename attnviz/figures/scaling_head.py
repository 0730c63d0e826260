"""A trained head's scores: variance by dimension, and entropy over the scale."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from attnviz.figures.theme import ALTERNATIVE, RAW, SCALED, THEORY, Figure, layout
from attnviz.words import _


def by_dimension(variances: np.ndarray) -> Figure:
    """Variance of q_i k_i for each dimension i, largest first; dashed: 1, as for random vectors."""
    order = np.argsort(variances)[::-1]
    fig = go.Figure(
        go.Bar(
            x=np.arange(1, len(order) + 1),
            y=variances[order],
            customdata=order,
            marker={"color": RAW, "line_width": 0},
            hovertemplate=_("dimension %{customdata}: variance %{y:.4g}") + "<extra></extra>",
        )
    )
    fig.add_hline(y=1, line={"color": THEORY, "dash": "dash", "width": 1.3})
    fig.add_annotation(
        x=len(order),
        y=1,
        text=_("random vectors: 1"),
        showarrow=False,
        xanchor="right",
        yanchor="bottom",
        yshift=5,
        font={"size": 11, "color": THEORY},
    )
    fig.update_xaxes(title_text=_("dimensions, largest first"))
    fig.update_yaxes(title_text=_("variance of q_i k_i"))
    fig.update_layout(bargap=0.1)
    return layout(fig, height=300)


def entropy_over_scale(multiples: np.ndarray, shares: np.ndarray, marks: dict[str, tuple[float, float, str]]) -> Figure:
    """Entropy share over multiples of the model's own scale; `marks`: name -> (multiple, share, colour)."""
    fig = go.Figure()
    fig.add_scatter(
        x=multiples,
        y=shares,
        mode="lines",
        line={"color": THEORY, "width": 2.5},
        showlegend=False,
        hovertemplate=_("%{x:.3g} times the model's scale: %{y:.1%}") + "<extra></extra>",
    )
    for name, (multiple, share, colour) in marks.items():
        fig.add_scatter(
            x=[multiple],
            y=[share],
            mode="markers",
            marker={"color": colour, "size": 13},
            name=name,
            hovertemplate=f"%{{y:.1%}}<extra>{name}</extra>",
        )
    fig.update_xaxes(
        type="log", title_text=_("scale, as a multiple of the model's own"), tickvals=[0.125, 0.5, 1, 2, 8, 32]
    )
    fig.update_yaxes(title_text=_("entropy, share of its most"), range=[-0.03, 1.05], tickformat=".0%")
    return layout(fig, height=300)


COLOURS = (RAW, SCALED, ALTERNATIVE)
