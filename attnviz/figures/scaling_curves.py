"""One measure of many rows over d_k (or over the number of keys), with bands and with the limits that are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from attnviz.figures.theme import THEORY, Figure, layout, with_alpha
from attnviz.words import _


@dataclass(frozen=True)
class Line:
    """A measure over the axis: its middle, and the band around it. All (grid,)."""

    name: str
    colour: str
    middle: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    mean: np.ndarray | None = None  #: drawn dotted, where it says something that the middle does not
    dash: str = "solid"


@dataclass(frozen=True)
class Limit:
    """What theory says: the same everywhere, named at its right end, or a curve (grid,), named in the legend."""

    name: str
    value: float | np.ndarray
    below: bool = False  #: the name goes under the line


def over_d_k(
    x: np.ndarray,
    lines: Sequence[Line],
    title: str,
    *,
    limits: Sequence[Limit] = (),
    here: float | None = None,
    bounds: tuple[float, float] | None = None,
    log_y: bool = False,
    share_of: float | None = None,
    x_title: str = "d_k",
    height: int = 270,
) -> Figure:
    """Lines with bands over a log axis. `here` marks the chosen x; `share_of` adds a right axis in shares of it."""
    fig = go.Figure()
    for line in lines:
        _add(fig, x, line)
    for limit in limits:
        _add_limit(fig, x, limit)
    if here is not None:
        fig.add_vline(x=here, line={"color": THEORY, "width": 1, "dash": "dot"})
    ticks = [value for value in (1, 4, 16, 64, 256, 1024, 4096) if x[0] <= value <= x[-1]]
    fig.update_xaxes(type="log", title_text=x_title, tickvals=ticks, range=_log_range(x))
    fig.update_yaxes(type="log" if log_y else "linear", exponentformat="power")
    if log_y:
        fig.update_yaxes(dtick=1)
    if bounds:
        fig.update_yaxes(range=list(bounds))
    if share_of and bounds:
        _right_axis(fig, x, bounds, share_of)
    fig = layout(fig, title, height)
    fig.update_layout(legend={"y": -0.28, "yanchor": "top", "font": {"size": 11}}, title={"font": {"size": 14}})
    return fig


def _log_range(x: np.ndarray) -> list[float]:
    low, high = np.log10(x[0]), np.log10(x[-1])
    pad = 0.03 * (high - low) or 0.5
    return [float(low - pad), float(high + pad)]


def _add(fig: Figure, x: np.ndarray, line: Line) -> None:
    if line.low is not None and line.high is not None:
        fig.add_scatter(
            x=np.concatenate([x, x[::-1]]),
            y=np.concatenate([line.high, line.low[::-1]]),
            fill="toself",
            fillcolor=with_alpha(line.colour, 0.18),
            line={"width": 0},
            hoverinfo="skip",
            showlegend=False,
        )
    if line.mean is not None:
        dots = {"color": line.colour, "width": 1.5, "dash": "dot"}
        name = _("{line}, mean").format(line=line.name)
        hover = f"d_k %{{x}}: %{{y:.4g}}<extra>{name}</extra>"
        fig.add_scatter(x=x, y=line.mean, mode="lines", line=dots, name=name, hovertemplate=hover)
    fig.add_scatter(
        x=x,
        y=line.middle,
        mode="lines+markers",
        line={"color": line.colour, "width": 2.5, "dash": line.dash},
        marker={"size": 4},
        name=line.name,
        hovertemplate=f"%{{x}}: %{{y:.4g}}<extra>{line.name}</extra>",
    )


def _add_limit(fig: Figure, x: np.ndarray, limit: Limit) -> None:
    y = np.broadcast_to(np.asarray(limit.value, dtype=float), x.shape)
    dash = {"color": THEORY, "width": 1.3, "dash": "dash"}
    hover = f"%{{y:.4g}}<extra>{limit.name}</extra>"
    is_curve = np.ndim(limit.value) > 0
    fig.add_scatter(x=x, y=y, mode="lines", line=dash, name=limit.name, hovertemplate=hover, showlegend=is_curve)
    if is_curve:
        return
    fig.add_annotation(
        x=float(np.log10(x[-1])),
        y=float(y[-1]),
        text=limit.name,
        showarrow=False,
        xanchor="right",
        yanchor="top" if limit.below else "bottom",
        font={"size": 11, "color": THEORY},
    )


def _right_axis(fig: Figure, x: np.ndarray, bounds: tuple[float, float], whole: float) -> None:
    """The same lines, read as shares of `whole`."""
    fig.add_scatter(x=x[:1], y=[0.0], yaxis="y2", opacity=0, showlegend=False, hoverinfo="skip")
    fig.update_layout(
        yaxis2={
            "overlaying": "y",
            "side": "right",
            "range": [bounds[0] / whole, bounds[1] / whole],
            "tickformat": ".0%",
            "showgrid": False,
            "dtick": 0.25,
        }
    )
