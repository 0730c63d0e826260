"""Figures of the scaling page: measures over d_k with the limits of theory, spread of q·k, softmax, and training."""

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import plotly.graph_objects as go

from attnviz.base.rounding import Rounded
from attnviz.base.words import _
from attnviz.figures.chart import (
    Panel,
    Series,
    axis,
    band,
    bars,
    chart,
    line,
    mark_x,
    mark_y,
    note,
    panels,
    points,
)
from attnviz.figures.end_labels import label_ends
from attnviz.figures.theme import RAW, SCALED, SERIES, THEORY, V_GREEN, Figure, add_alpha
from attnviz.figures.title_lines import axis_title

FLOOR = 1e-9  #: drawn in place of 0 on a log axis
D_K = (1, 4, 16, 64, 256, 1024, 4096)  #: places that an axis of d_k names


# Curves with bands: measures of many rows over d_k or the number of keys, with the limits of theory.
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


def draw_over_d_k(
    x: np.ndarray,
    lines: Sequence[Line],
    title: str,
    *,
    limits: Sequence[Limit] = (),
    here: float | None = None,
    bounds: tuple[float, float] | None = None,
    log_y: bool = False,
    x_title: str = "d_k",
    height: int = 290,
) -> Figure:
    """Lines with bands over a log axis. `here` marks the chosen x.

    Made as plain data and checked by Plotly once: one move of a slider redraws eight of these.
    """
    traces = [trace for line in lines for trace in _traces(x, line, log_y)]
    traces += [_limit_trace(x, limit) for limit in limits]
    look = copy.deepcopy(_plain_layout(title, height))
    look["title"]["font"]["size"] = 14
    look["xaxis"] |= _log_axis(x, x_title)
    look["yaxis"] |= {"type": "log", "dtick": 1} if log_y else {"type": "linear"}
    look["yaxis"]["exponentformat"] = "power"
    if bounds:
        look["yaxis"]["range"] = list(bounds)
    elif log_y:  # a band that reaches 0 must not stretch the axis without end
        seen = np.concatenate([line.middle for line in lines]).clip(FLOOR)
        look["yaxis"]["range"] = list(np.log10([max(FLOOR, seen.min() / 3), seen.max() * 2]))
    look["annotations"] = [_limit_name(x, limit) for limit in limits if np.ndim(limit.value) == 0]
    look["yaxis"]["showgrid"] = not look["annotations"]  # a line of the grid would strike their names through
    if here is not None:
        look["shapes"] = [mark_x(here)]
    return label_ends(go.Figure(traces, look))


@cache
def _plain_layout(title: str, height: int) -> dict[str, Any]:
    """The look of every figure as plain data, to be completed and then checked by Plotly once."""
    look: dict[str, Any] = chart([], height=height, title=title).to_plotly_json()["layout"]
    look.pop("template", None)  # the default one, which costs more to check than all the rest
    return look


def _log_axis(x: np.ndarray, title: str) -> dict[str, Any]:
    low, high = float(np.log10(x[0])), float(np.log10(x[-1]))
    pad = 0.03 * (high - low) or 0.5
    places = [value for value in D_K if x[0] <= value <= x[-1]]
    return axis(axis_title(title), labels=places, type="log", range=[low - pad, high + pad], automargin=True)


def _traces(x: np.ndarray, curve: Line, log_y: bool) -> list[Series]:
    traces = []
    if curve.low is not None and curve.high is not None:
        floor = FLOOR if log_y else -np.inf
        traces.append(_band(x, curve.low.clip(floor), curve.high.clip(floor), curve.colour))
    if curve.mean is not None:
        name = _("{line}, mean").format(line=curve.name)
        traces.append(line(x, curve.mean, name, curve.colour, width=1.5, dash="dot", hover="%{x}: %{y:.4g}"))
    return [*traces, line(x, curve.middle, curve.name, curve.colour, dash=curve.dash, dots=4, hover="%{x}: %{y:.4g}")]


def _band(x: np.ndarray, low: np.ndarray, high: np.ndarray, colour: str) -> Series:
    return band(x, low, high, add_alpha(colour, 0.18), showlegend=False)


def _limit_trace(x: np.ndarray, limit: Limit) -> Series:
    y = np.broadcast_to(np.asarray(limit.value, dtype=float), x.shape)
    named = np.ndim(limit.value) > 0
    return line(x, y, limit.name, THEORY, width=1.3, dash="dash", hover="%{x}: %{y:.4g}", showlegend=named)


def _limit_name(x: np.ndarray, limit: Limit) -> dict[str, Any]:
    look = {"xanchor": "right", "yanchor": "top" if limit.below else "bottom", "font": {"size": 11, "color": THEORY}}
    return note(float(np.log10(x[-1])), float(limit.value), limit.name, **look)


def draw_training(
    runs: Sequence[tuple[str, str, Mapping[str, np.ndarray]]], steps: int, chance: float, even: float
) -> Figure:
    """Training curves of each run: loss, accuracy, entropy and gradient.

    `runs`: (name, colour, measure -> (seeds, steps so far)).
    The axis reaches to `steps` from the start. `chance`: accuracy of guessing; `even`: entropy of even weights.
    """
    x, low = {"range": [0, steps]}, axis(_("step"), range=[0, steps])
    share, most = {"range": [0, 1.04], "tickformat": ".0%"}, {"range": [0, even * 1.08]}
    powers: dict[str, Any] = {"type": "log", "rangemode": "normal", "exponentformat": "power", "dtick": 1}
    return panels(
        [
            Panel(_learning_curves(runs, "loss"), x, {"rangemode": "tozero"}),
            Panel(_learning_curves(runs, "accuracy"), x, {"rangemode": "tozero"} | share, [mark_y(chance, width=1.2)]),
            Panel(_learning_curves(runs, "entropy"), low, {"rangemode": "tozero"} | most, [mark_y(even, width=1.2)]),
            Panel(_learning_curves(runs, "gradient"), low, powers),
        ],
        2,
        spacing={"horizontal_spacing": 0.1, "vertical_spacing": 0.16},
        titles=(_("loss, nats"), _("labels right"), _("entropy, nats"), _("gradient norm")),
        titles_size=13,
        height=520,
        top=56,
    ).update_layout(legend={"yref": "paper", "yanchor": "bottom", "y": 1.08})


def _learning_curves(runs: Sequence[tuple[str, str, Mapping[str, np.ndarray]]], measure: str) -> list[Series]:
    """Curves of each run: the mean over seeds, with a band from the lowest to the highest."""
    series = []
    for name, colour, run in runs:
        values = run[measure]
        x = np.arange(1, values.shape[1] + 1)
        if len(x) > 150:  # a point for every other step looks the same
            x, values = x[::2], values[:, ::2]
        if len(values) > 1:
            series.append(_band(x, values.min(0), values.max(0), colour))
        of: dict[str, Any] = {"legendgroup": name, "showlegend": measure == "loss", "hover": _("step %{x}: %{y:.4g}")}
        series.append(line(x, values.mean(0), name, colour, width=2, **of))
    return series


# How far q·k scatters: of random vectors over d_k, beside theory, and in a trained head, with what scaling does.
#: Both axes stay as d_k moves, and the raw products are seen to spread: at 4,096 most of them are beside the picture.
REACH, DENSEST = 40.0, 0.44


def histograms(
    raw: tuple[np.ndarray, np.ndarray], scaled: tuple[np.ndarray, np.ndarray], d_k: int, marked: bool = False
) -> Figure:
    """Raw q.k above scaled q.k, each (density per bin, edges), over N(0, d_k) and N(0, 1), on the same fixed axes.

    `marked`: lines where a product has its typical size, one standard deviation.
    """
    x = {"range": (-REACH, REACH)}
    title = _("value of the product; heights are densities")
    y: dict[str, Any] = {"range": (0, DENSEST), "nticks": 3}
    normal = _normal(raw[1], d_k, _("normal, variance {variance}").format(variance=d_k), dash="solid", showlegend=True)
    # with one number in a vector both predictions are the same curve
    of_one = _normal(scaled[1], 1, _("normal, variance 1"), dash="dash", showlegend=d_k > 1)
    fig = panels(
        [
            Panel([_histogram(*raw, RAW), normal], x, axis(_("raw q·k"), **y)),
            Panel([_histogram(*scaled, SCALED), of_one], x | axis(title), axis(_("scaled q·k/√d_k"), **y)),
        ],
        1,
        spacing={"shared_xaxes": True, "vertical_spacing": 0.08},
        height=360,
        bargap=0,
    )
    for row, size in enumerate((math.sqrt(d_k), 1.0), 1) if marked else ():
        for text, at in (("", -size), (f"{Rounded(size):.3g}", size)):
            fig.add_vline(at, line={"color": THEORY, "dash": "dot"}, annotation_text=text, row=row, col=1)
    return fig


def _histogram(density: np.ndarray, edges: np.ndarray, colour: str) -> Series:
    look: dict[str, Any] = {"width": np.diff(edges), "marker": {"line": {"width": 0}}, "showlegend": False}
    hover = _("around %{x:.3g}: density %{y:.4g}") + "<extra></extra>"
    return bars((edges[1:] + edges[:-1]) / 2, density, None, add_alpha(colour, 0.6), hover=hover, **look)


def _normal(edges: np.ndarray, variance: float, name: str, **look: Any) -> Series:
    """The density of the normal of this variance."""
    x = np.linspace(edges[0], edges[-1], 181)
    y = np.exp(-(x**2) / (2 * variance)) / math.sqrt(2 * math.pi * variance)
    return line(x, y, name, THEORY, width=2, hover="", **look)


def growth(
    d_k: np.ndarray, raw: np.ndarray, error: np.ndarray, exact: np.ndarray, here: tuple[int, float, float]
) -> Figure:
    """Variance of q.k over d_k, raw and scaled, with error bars of two standard errors. Dashed lines: d_k and 1.

    `exact`: the true variance of raw q.k where the assumptions do not hold. `here`: the chosen
    d_k and the two variances measured there.
    """
    look: dict[str, Any] = {"width": 1.5, "hover": ""}
    lines = [
        line(d_k, d_k, _("textbook: d_k, and 1"), THEORY, dash="dash", **look),
        line(d_k, np.ones(len(d_k)), None, THEORY, dash="dash", showlegend=False, **look),
    ]
    if not np.allclose(exact, d_k):
        lines.append(line(d_k, exact, _("exact, for what was drawn"), RAW, dash="dot", **look))
    measured = [
        points(
            d_k,
            raw / divisor,
            name,
            colour,
            size=7,
            error_y={"array": 2 * (error / divisor), "color": colour, "thickness": 1.2, "width": 3},
            hover="d_k %{x}: %{y:.4g}<extra></extra>",
        )
        for divisor, colour, name in ((1, RAW, _("raw")), (d_k, SCALED, _("scaled")))
    ]
    chosen = points(
        [here[0], here[0]],
        [here[1], here[2]],
        None,
        [RAW, SCALED],
        size=15,
        symbol="circle-open",
        marker={"line": {"width": 2.5}},
        hover="d_k %{x}: %{y:.5g}<extra></extra>",
        showlegend=False,
    )
    return chart(
        [*lines, *measured, chosen],
        axis("d_k", labels=D_K, type="log", range=[-0.1, 3.72]),
        axis(_("variance of q·k"), type="log", exponentformat="power", dtick=1),
        height=330,
    )


def by_dimension(variances: np.ndarray) -> Figure:
    """Variance of q_i k_i for each dimension i, largest first; dashed: 1, as for random vectors."""
    order = np.argsort(variances)[::-1]
    ranks, hover = np.arange(1, len(order) + 1), _("dimension %{customdata}: variance %{y:.4g}")
    grey = {"xanchor": "right", "yanchor": "bottom", "yshift": 5, "font": {"size": 11, "color": THEORY}}
    return chart(
        [bars(ranks, variances[order], None, RAW, customdata=order, marker={"line": {"width": 0}}, hover=hover)],
        axis(_("dimensions, largest first")),
        axis(_("variance of q_i k_i")),
        height=300,
        marks=[mark_y(1, width=1.3)],
        notes=[note(len(order), 1, _("random vectors: 1"), **grey)],
        bargap=0.1,
    )


def entropy_over_scale(multiples: np.ndarray, shares: np.ndarray, marks: dict[str, tuple[float, float, str]]) -> Figure:
    """Entropy share over multiples of the model's own scale; `marks`: name -> (multiple, share, colour)."""
    hover = _("%{x:.3g} times the model's scale: %{y:.1%}") + "<extra></extra>"
    return chart(
        [
            line(multiples, shares, None, THEORY, showlegend=False, hover=hover),
            *(
                points([multiple], [share], name, colour, size=13, hover="%{y:.1%}")
                for name, (multiple, share, colour) in marks.items()
            ),
        ],
        axis(_("scale, as a multiple of the model's own"), labels=[0.125, 0.5, 1, 2, 8, 32], type="log"),
        axis(_("entropy, share of its most"), range=[-0.03, 1.05], tickformat=".0%"),
        height=300,
    )


# Pictures of softmax: where exp overflows, and mixtures by weights or by scores.


def overflow(shifts: np.ndarray, attempts: Sequence[tuple[str, np.ndarray, float | None]]) -> Figure:
    """The largest weight after adding a number to every score, for each (format, weight, first addition that broke).

    Softmax does not change when all scores move together: every line should be flat.
    """
    ticks = {t + 1: str(t) for t in (0, 1, 3, 10, 30, 100, 300, 1000)}
    series = []
    for i, (name, naive, broken) in enumerate(attempts):
        finite, hover = np.where(np.isfinite(naive), naive, np.nan), _("scores + %{customdata:.4g}: %{y:.6f}")
        series.append(line(shifts + 1, finite, name, SERIES[i], customdata=shifts, hover=hover))
        if broken is not None:
            series.append(_break(i, naive[shifts < broken], broken, name))
    x = axis(_("added to every score"), labels=ticks, type="log", range=[-0.05, 3.05])
    return chart(series, x, axis(_("largest weight, naively")), height=320)


def _break(number: int, before: np.ndarray, broken: float, name: str) -> Series:
    """A cross at the addition that breaks a format; `before` are the weights up to there."""
    hover = _("breaks when {shift} is added").format(shift=f"{broken:g}") + f"<extra>{name}</extra>"
    return points(
        [broken + 1],
        [float(before[-1]) if len(before) and np.isfinite(before[-1]) else 1.0],
        None,
        SERIES[number],
        size=11,
        symbol="x",
        text=[f"+{broken:g}"],
        # a mark far right has no room beside it
        at=("top " if number % 2 else "bottom ") + ("left" if broken > 100 else "center"),
        showlegend=False,
        hover=hover,
    )


def mixes(values: np.ndarray, by_weights: np.ndarray, by_scores: np.ndarray, shifted: np.ndarray) -> Figure:
    """Values (n, 2) with their hull, and three mixes: by weights, by raw scores, by raw scores + 1."""
    hull = line(
        values[:, 0],
        values[:, 1],
        _("values, and all mixes of them"),
        V_GREEN,
        width=1,
        dots=len(values) <= 64,
        fill="toself" if len(values) > 2 else None,
        fillcolor="rgba(0,158,115,0.12)",
        hover=_("value of key %{pointNumber}") + "<extra></extra>",
    )
    arrows = (
        (by_weights, SCALED, "circle", _("mixed by softmax weights")),
        (by_scores, RAW, "diamond", _("mixed by raw scores")),
        (shifted, RAW, "diamond-open", _("by raw scores + 1")),
    )
    arrow_lines = [
        line([0, end[0]], [0, end[1]], name, colour, width=1.5, dash="dot", dots=True, hover="(%{x:.3g}, %{y:.3g})")
        | {"marker": {"color": colour, "size": [0, 13], "symbol": symbol, "line": {"width": 2}}}
        for end, colour, symbol, name in arrows
    ]
    return chart([hull | {"marker": {"color": V_GREEN, "size": 9}}, *arrow_lines], height=360)
