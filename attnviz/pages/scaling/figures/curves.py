"""One measure of many rows over d_k (or over the number of keys), with bands and with the limits that theory gives."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import plotly.graph_objects as go

from attnviz.base.words import _
from attnviz.figures.theme import THEORY, Figure, layout, with_alpha
from attnviz.figures.title_lines import axis_title, below

FLOOR = 1e-9  #: drawn in place of 0 on a log axis


@dataclass(frozen=True)
class Line:
    """A measure over the x axis: its median, and the band around it. All (grid,)."""

    name: str
    colour: str
    middle: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    mean: np.ndarray | None = None  #: drawn dotted, where it differs from the median
    dash: str = "solid"


@dataclass(frozen=True)
class Limit:
    """A limit from theory: a constant, named at its right end, or a curve (grid,), named in the legend."""

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
    height: int = 290,
) -> Figure:
    """Lines with bands over a log axis. `here` marks the chosen x; `share_of`: the 100% of a second axis.

    Made as plain data and checked by Plotly once: one move of a slider redraws eight of these.
    """
    traces = [trace for line in lines for trace in _traces(x, line, log_y)]
    traces += [_limit_trace(x, limit) for limit in limits]
    look = _look(title, height)
    look["xaxis"] |= _x_axis(x, x_title)
    look["yaxis"] |= {"type": "log", "dtick": 1} if log_y else {"type": "linear"}
    look["yaxis"]["exponentformat"] = "power"
    if bounds:
        look["yaxis"]["range"] = list(bounds)
    elif log_y:  # a band that reaches 0 must not stretch the axis without end
        seen = np.concatenate([line.middle for line in lines]).clip(FLOOR)
        look["yaxis"]["range"] = list(np.log10([max(FLOOR, seen.min() / 3), seen.max() * 2]))
    if share_of and bounds:
        traces.append({"type": "scatter", "x": x[:1], "y": [0.0], "yaxis": "y2", "opacity": 0, "hoverinfo": "skip"})
        traces[-1]["showlegend"] = False
        look["yaxis2"] = _right_axis(bounds, share_of)
    look["annotations"] = [_limit_name(x, limit) for limit in limits if np.ndim(limit.value) == 0]
    look["yaxis"]["showgrid"] = not look["annotations"]  # a line of the grid would strike their names through
    if here is not None:
        look["shapes"] = [_mark(here)]
    return go.Figure(traces, look)


@cache
def _shared_look(title: str, height: int) -> dict[str, Any]:
    fig = layout(go.Figure(), title, height)
    fig.update_xaxes(type="log").update_yaxes(type="linear")
    fig.update_layout(legend=below(), title={"font": {"size": 14}})
    look: dict[str, Any] = fig.to_plotly_json()["layout"]
    look.pop("template", None)  # the default one, which costs more to check than all the rest
    return {"xaxis": {}, "yaxis": {}} | look


def _look(title: str, height: int) -> dict[str, Any]:
    return copy.deepcopy(_shared_look(title, height))


def _x_axis(x: np.ndarray, title: str) -> dict[str, Any]:
    low, high = float(np.log10(x[0])), float(np.log10(x[-1]))
    pad = 0.03 * (high - low) or 0.5
    ticks = [value for value in (1, 4, 16, 64, 256, 1024, 4096) if x[0] <= value <= x[-1]]
    return {
        "type": "log",
        "title": {"text": axis_title(title)},
        "tickvals": ticks,
        "range": [low - pad, high + pad],
        "automargin": True,
    }


def _right_axis(bounds: tuple[float, float], whole: float) -> dict[str, Any]:
    """The left axis read as shares of `whole`."""
    return {
        "overlaying": "y",
        "side": "right",
        "range": [bounds[0] / whole, bounds[1] / whole],
        "tickformat": ".0%",
        "showgrid": False,
        "dtick": 0.25,
    }


def _mark(x: float) -> dict[str, Any]:
    """A dotted vertical line at x."""
    line = {"color": THEORY, "width": 1, "dash": "dot"}
    return {"type": "line", "x0": x, "x1": x, "y0": 0, "y1": 1, "yref": "y domain", "line": line}


def _traces(x: np.ndarray, line: Line, log_y: bool) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    if line.low is not None and line.high is not None:
        found.append(
            {
                "type": "scatter",
                "x": np.concatenate([x, x[::-1]]),
                "y": np.concatenate([line.high, line.low[::-1]]).clip(FLOOR if log_y else -np.inf),
                "fill": "toself",
                "fillcolor": with_alpha(line.colour, 0.18),
                "line": {"width": 0},
                "mode": "lines",
                "hoverinfo": "skip",
                "showlegend": False,
            }
        )
    if line.mean is not None:
        name = _("{line}, mean").format(line=line.name)
        found.append(_curve(x, line.mean, name, {"color": line.colour, "width": 1.5, "dash": "dot"}, "lines"))
    solid = {"color": line.colour, "width": 2.5, "dash": line.dash}
    found.append(_curve(x, line.middle, line.name, solid, "lines+markers") | {"marker": {"size": 4}})
    return found


def _curve(x: np.ndarray, y: np.ndarray, name: str, line: dict[str, Any], mode: str) -> dict[str, Any]:
    hover = f"%{{x}}: %{{y:.4g}}<extra>{name}</extra>"
    return {"type": "scatter", "x": x, "y": y, "mode": mode, "line": line, "name": name, "hovertemplate": hover}


def _limit_trace(x: np.ndarray, limit: Limit) -> dict[str, Any]:
    y = np.broadcast_to(np.asarray(limit.value, dtype=float), x.shape)
    dash = {"color": THEORY, "width": 1.3, "dash": "dash"}
    return _curve(x, y, limit.name, dash, "lines") | {"showlegend": np.ndim(limit.value) > 0}


def _limit_name(x: np.ndarray, limit: Limit) -> dict[str, Any]:
    return {
        "x": float(np.log10(x[-1])),
        "y": float(limit.value),
        "text": limit.name,
        "showarrow": False,
        "xanchor": "right",
        "yanchor": "top" if limit.below else "bottom",
        "font": {"size": 11, "color": THEORY},
    }
