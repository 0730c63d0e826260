"""Attention with and without normalised queries and keys, as the projections grow."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from attnviz.base.words import _
from attnviz.figures.theme import RAW, SCALED, THEORY, Figure, layout
from attnviz.figures.title_lines import below


def growth(
    factors: np.ndarray,
    without: np.ndarray,
    normed: np.ndarray,
    title: str,
    here: float,
    *,
    log_y: bool = False,
    bound: float | None = None,
    share: bool = False,
) -> Figure:
    """One measure over the factor, both ways. `bound`: a limit that the norm sets; `here` marks the chosen factor."""
    fig = go.Figure()
    for values, name, colour in ((without, _("without the norm"), RAW), (normed, _("with the norm"), SCALED)):
        fig.add_scatter(
            x=factors,
            y=values,
            mode="lines+markers",
            name=name,
            line={"color": colour, "width": 2.5},
            marker={"size": 5},
            hovertemplate="× %{x:.3g}: %{y:.4g}<extra>" + name + "</extra>",
        )
    if bound is not None:
        fig.add_hline(y=bound, line={"color": THEORY, "dash": "dash", "width": 1.3})
        note = {"text": _("bound"), "showarrow": False, "font": {"size": 11, "color": THEORY}}
        fig.add_annotation(x=float(np.log10(factors[-1])), y=float(np.log10(bound)), yanchor="bottom", **note)
    fig.add_vline(x=here, line={"color": THEORY, "dash": "dot", "width": 1})
    fig.update_xaxes(type="log", title_text=_("W_q and W_k ×"), tickvals=[0.5, 1, 2, 4, 8, 16, 32])
    fig.update_yaxes(rangemode="normal" if log_y else "tozero")
    if log_y:
        fig.update_yaxes(type="log", dtick=1, exponentformat="power")
    elif share:
        fig.update_yaxes(tickformat=".0%", range=[0, 1.02])
    layout(fig, title, height=330)
    return fig.update_layout(legend=below())
