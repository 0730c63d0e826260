"""One pair of a query and of a key on its circle: the picture that the browser turns, as a figure to save."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from attnviz.base.words import _
from attnviz.figures.theme import K_VERMILION, Q_BLUE, Figure, layout, with_alpha


def pair(q: np.ndarray, k: np.ndarray, q_turned: np.ndarray, k_turned: np.ndarray, title: str) -> Figure:
    """Arrows (2,) before (dotted) and after they are turned, each on the circle that it stays on."""
    fig = go.Figure()
    around = np.linspace(0, 2 * np.pi, 181)
    for name, start, now, colour in (("q", q, q_turned, Q_BLUE), ("k", k, k_turned, K_VERMILION)):
        radius = float(np.hypot(*start))
        circle = {"color": with_alpha(colour, 0.35), "width": 1.2}
        fig.add_scatter(
            x=radius * np.cos(around),
            y=radius * np.sin(around),
            mode="lines",
            line=circle,
            showlegend=False,
            hoverinfo="skip",
        )
        for end, dash, words in ((start, "dot", _("{name} before")), (now, "solid", _("{name} turned"))):
            fig.add_scatter(
                x=[0, end[0]],
                y=[0, end[1]],
                mode="lines+markers",
                marker={"symbol": "arrow", "angleref": "previous", "size": [0, 14], "color": colour},
                line={"color": colour, "dash": dash, "width": 1.5 if dash == "dot" else 3},
                name=words.format(name=name),
            )
    fig.update_xaxes(zeroline=True, showgrid=False, constrain="domain")
    fig.update_yaxes(zeroline=True, showgrid=False, scaleanchor="x", constrain="domain")
    return layout(fig, title, height=420)
