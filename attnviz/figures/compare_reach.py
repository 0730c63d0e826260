"""How far each kind of layer reaches: the gradient norm by distance, and labels right by step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from attnviz.figures.compare_curves import COLOURS, DASHES, below
from attnviz.figures.theme import THEORY, Figure, layout
from attnviz.figures.title_lines import above
from attnviz.words import _

FLOOR = 1e-12  #: a gradient of exactly 0, or below this, is drawn here


def by_distance(lines: Sequence[tuple[str, str, np.ndarray]], title: str, height: int = 340) -> Figure:
    """`lines`: (kind, name, norms by position, the last position last). Distance 0 is the last input itself."""
    fig = go.Figure()
    for kind, name, norms in lines:
        fig.add_scatter(
            x=np.arange(len(norms)),
            y=norms[::-1].clip(FLOOR),
            customdata=norms[::-1],
            name=name,
            mode="lines",
            line={"color": COLOURS[kind], "width": 2.2, "dash": DASHES.get(kind, "solid")},
            hovertemplate=_("%{x} tokens back: %{customdata:.3g}") + f"<extra>{name}</extra>",
        )
    fig.update_xaxes(title={"text": _("distance from the last token"), "font": {"size": 12}}, rangemode="tozero")
    fig.update_yaxes(
        type="log", range=[np.log10(FLOOR) - 0.3, 1.5], exponentformat="power", tickvals=[1e-12, 1e-9, 1e-6, 1e-3, 1]
    )
    fig.update_yaxes(ticktext=["≤ 10⁻¹²", "10⁻⁹", "10⁻⁶", "10⁻³", "1"])
    return _finished(fig, title, height)


def by_step(
    lines: Sequence[tuple[str, str, np.ndarray]], steps: int, chance: float, title: str, height: int = 340
) -> Figure:
    """`lines`: (kind, name, share of labels right at each step so far); `chance` is the share of guessing."""
    fig = go.Figure()
    fig.add_hline(y=chance, line={"color": THEORY, "width": 1.2, "dash": "dash"})
    for kind, name, right in lines:
        x, smooth = smoothed(right)
        fig.add_scatter(
            x=x,
            y=smooth,
            name=name,
            mode="lines",
            line={"color": COLOURS[kind], "width": 2.2, "dash": DASHES.get(kind, "solid")},
            hovertemplate=_("step %{x}: %{y:.1%}") + f"<extra>{name}</extra>",
        )
    fig.update_xaxes(title={"text": _("step"), "font": {"size": 12}}, range=[0, max(1, steps)])
    fig.update_yaxes(range=[0, 1.04], tickformat=".0%")
    return _finished(fig, title, height)


def smoothed(values: np.ndarray, over: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Steps and the mean of up to `over` steps before and at each."""
    total = np.concatenate([[0.0], np.cumsum(values)])
    step = np.arange(1, len(values) + 1)
    first = np.maximum(step - over, 0)
    return step, (total[step] - total[first]) / np.maximum(step - first, 1)


def _finished(fig: Figure, title: str, height: int) -> Figure:
    fig = layout(fig, title, height)
    fig.update_xaxes(tickfont={"size": 11}).update_yaxes(tickfont={"size": 11})
    fig.update_layout(
        title={"font": {"size": 14}},
        legend=below(),
        margin={"t": above(fig, 34)},
        showlegend=True,
    )
    return fig
