"""Curves with bands: measures of many rows over d_k or the number of keys, with the limits of theory; and training."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from attnviz.base.words import _
from attnviz.figures.theme import THEORY, Figure, layout, with_alpha
from attnviz.figures.title_lines import above, axis_title, below

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
    look = plain_layout(title, height)
    look["legend"] |= below()
    look["title"]["font"]["size"] = 14
    look["xaxis"] |= _log_axis(x, x_title)
    look["yaxis"] |= {"type": "log", "dtick": 1} if log_y else {"type": "linear"}
    look["yaxis"]["exponentformat"] = "power"
    if bounds:
        look["yaxis"]["range"] = list(bounds)
    elif log_y:  # a band that reaches 0 must not stretch the axis without end
        seen = np.concatenate([line.middle for line in lines]).clip(FLOOR)
        look["yaxis"]["range"] = list(np.log10([max(FLOOR, seen.min() / 3), seen.max() * 2]))
    if share_of and bounds:  # a second axis, with a trace that nobody sees to hold it
        unseen = {"type": "scatter", "x": x[:1], "y": [0.0], "yaxis": "y2", "opacity": 0, "hoverinfo": "skip"}
        traces.append(unseen | {"showlegend": False})
        right = {"overlaying": "y", "side": "right", "tickformat": ".0%", "showgrid": False, "dtick": 0.25}
        look["yaxis2"] = right | {"range": [bounds[0] / share_of, bounds[1] / share_of]}
    look["annotations"] = [_limit_name(x, limit) for limit in limits if np.ndim(limit.value) == 0]
    look["yaxis"]["showgrid"] = not look["annotations"]  # a line of the grid would strike their names through
    if here is not None:
        mark = {"type": "line", "x0": here, "x1": here, "y0": 0, "y1": 1, "yref": "y domain"}
        look["shapes"] = [mark | {"line": {"color": THEORY, "width": 1, "dash": "dot"}}]
    return go.Figure(traces, look)


def plain_layout(title: str, height: int) -> dict[str, Any]:
    """The look of every figure as plain data, to be completed and then checked by Plotly once."""
    return copy.deepcopy(_plain_layout(title, height))


@cache
def _plain_layout(title: str, height: int) -> dict[str, Any]:
    look: dict[str, Any] = layout(go.Figure(), title, height).to_plotly_json()["layout"]
    look.pop("template", None)  # the default one, which costs more to check than all the rest
    return {"xaxis": {}, "yaxis": {}} | look


def _log_axis(x: np.ndarray, title: str) -> dict[str, Any]:
    low, high = float(np.log10(x[0])), float(np.log10(x[-1]))
    pad = 0.03 * (high - low) or 0.5
    return {
        "type": "log",
        "title": {"text": axis_title(title)},
        "tickvals": [value for value in (1, 4, 16, 64, 256, 1024, 4096) if x[0] <= value <= x[-1]],
        "range": [low - pad, high + pad],
        "automargin": True,
    }


def _traces(x: np.ndarray, line: Line, log_y: bool) -> list[dict[str, Any]]:
    traces: list[dict[str, Any]] = []
    if line.low is not None and line.high is not None:
        floor = FLOOR if log_y else -np.inf
        traces.append(_band(x, line.low.clip(floor), line.high.clip(floor), line.colour))
    if line.mean is not None:
        name = _("{line}, mean").format(line=line.name)
        traces.append(_curve(x, line.mean, name, {"color": line.colour, "width": 1.5, "dash": "dot"}))
    solid = _curve(x, line.middle, line.name, {"color": line.colour, "width": 2.5, "dash": line.dash})
    return [*traces, solid | {"mode": "lines+markers", "marker": {"size": 4}}]


def _band(x: np.ndarray, low: np.ndarray, high: np.ndarray, colour: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "x": np.concatenate([x, x[::-1]]),
        "y": np.concatenate([high, low[::-1]]),
        "fill": "toself",
        "fillcolor": with_alpha(colour, 0.18),
        "line": {"width": 0},
        "mode": "lines",
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _curve(x: np.ndarray, y: np.ndarray, name: str, line: dict[str, Any]) -> dict[str, Any]:
    hover = f"%{{x}}: %{{y:.4g}}<extra>{name}</extra>"
    return {"type": "scatter", "x": x, "y": y, "mode": "lines", "line": line, "name": name, "hovertemplate": hover}


def _limit_trace(x: np.ndarray, limit: Limit) -> dict[str, Any]:
    y = np.broadcast_to(np.asarray(limit.value, dtype=float), x.shape)
    dash = {"color": THEORY, "width": 1.3, "dash": "dash"}
    return _curve(x, y, limit.name, dash) | {"showlegend": np.ndim(limit.value) > 0}


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


def training(
    runs: Sequence[tuple[str, str, Mapping[str, np.ndarray]]], steps: int, chance: float, even: float
) -> Figure:
    """`runs`: (name, colour, measure -> (seeds, steps so far)); measures loss, accuracy, entropy, gradient.

    The axis reaches to `steps` from the start. `chance`: accuracy of guessing; `even`: entropy of even weights.
    """
    titles = {
        "loss": _("loss, nats"),
        "accuracy": _("labels right"),
        "entropy": _("entropy, nats"),
        "gradient": _("gradient norm"),
    }
    fig = make_subplots(2, 2, subplot_titles=list(titles.values()), horizontal_spacing=0.1, vertical_spacing=0.16)
    for place, measure in enumerate(titles):
        for name, colour, run in runs:
            values = run[measure]
            x = np.arange(1, values.shape[1] + 1)
            if len(x) > 150:  # a point for every other step looks the same
                x, values = x[::2], values[:, ::2]
            mean = _curve(x, values.mean(0), name, {"color": colour, "width": 2}) | {
                "legendgroup": name,
                "showlegend": place == 0,
                "hovertemplate": _("step %{x}: %{y:.4g}") + f"<extra>{name}</extra>",
            }
            band = [_band(x, values.min(0), values.max(0), colour)] if len(values) > 1 else []
            fig.add_traces([*band, mean], rows=place // 2 + 1, cols=place % 2 + 1)
    fig.update_xaxes(range=[0, steps])
    fig.update_yaxes(rangemode="tozero")
    fig.update_yaxes(range=[0, 1.04], tickformat=".0%", row=1, col=2)
    fig.update_yaxes(range=[0, even * 1.08], row=2, col=1)
    fig.update_yaxes(type="log", rangemode="normal", exponentformat="power", dtick=1, row=2, col=2)
    fig.update_xaxes(title_text=_("step"), row=2)
    dash = {"color": THEORY, "width": 1.2, "dash": "dash"}
    fig.add_hline(y=chance, line=dash, row=1, col=2)
    fig.add_hline(y=even, line=dash, row=2, col=1)
    fig.update_annotations(font_size=13)
    fig = layout(fig, height=520)
    return fig.update_layout(legend={"yref": "paper", "yanchor": "bottom", "y": 1.08}, margin={"t": above(fig, 56)})
