"""Pictures of q.k's spread: two histograms over the density that theory predicts, and the variance over d_k."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from attnviz.base.words import _
from attnviz.figures.theme import RAW, SCALED, THEORY, Figure, layout, with_alpha
from attnviz.figures.title_lines import above

NARROWEST = 20.0  #: either side of 0: from d_k = 1 to 16 this axis stays, and the raw products are seen to grow


def histograms(raw: tuple[np.ndarray, np.ndarray], scaled: tuple[np.ndarray, np.ndarray], d_k: int) -> Figure:
    """Raw q.k above scaled q.k, each (density per bin, edges), over N(0, d_k) and N(0, 1), on one axis of values."""
    names = (_("raw q·k"), _("scaled q·k/√d_k"))
    fig = make_subplots(2, 1, shared_xaxes=True, vertical_spacing=0.08)
    predicted = (_("normal, variance {variance}").format(variance=d_k), _("normal, variance 1"))
    for number, (density, edges) in enumerate((raw, scaled)):
        colour = (RAW, SCALED)[number]
        centres = (edges[1:] + edges[:-1]) / 2
        bars = go.Bar(
            x=centres,
            y=density,
            width=np.diff(edges),
            marker={"color": with_alpha(colour, 0.6), "line_width": 0},
            showlegend=False,
            hovertemplate=_("around %{x:.3g}: density %{y:.4g}") + "<extra></extra>",
        )
        fig.add_trace(bars, number + 1, 1)
        x = np.linspace(edges[0], edges[-1], 181)
        line = {"color": THEORY, "width": 2, "dash": "dash" if number else "solid"}
        curve = go.Scatter(
            x=x,
            y=normal_density(x, (d_k, 1)[number]),
            mode="lines",
            line=line,
            name=predicted[number],
            hoverinfo="skip",
        )
        fig.add_trace(curve, number + 1, 1)
        fig.update_yaxes(title_text=names[number], row=number + 1, col=1)
    ends = (min(-NARROWEST, raw[1][0], scaled[1][0]), max(NARROWEST, raw[1][-1], scaled[1][-1]))
    fig.update_xaxes(range=ends)
    fig.update_xaxes(title_text=_("value of the product; heights are densities"), row=2, col=1)
    fig.update_yaxes(rangemode="tozero", nticks=4)
    fig.update_layout(bargap=0)
    return layout(fig, height=360)


def normal_density(x: np.ndarray, variance: float) -> np.ndarray:
    """Density at x of a normal with mean 0."""
    density: np.ndarray = np.exp(-(x**2) / (2 * variance)) / math.sqrt(2 * math.pi * variance)
    return density


def growth(
    d_k: np.ndarray,
    raw: tuple[np.ndarray, np.ndarray],
    scaled: tuple[np.ndarray, np.ndarray],
    exact: np.ndarray,
    here: tuple[int, float, float],
) -> Figure:
    """Variance over d_k, both axes logarithmic, each (measured, standard error), with d_k and 1 as lines.

    `exact`: the true variance of raw q.k where the assumptions do not hold. `here`: the chosen
    d_k and the two variances measured there.
    """
    fig = go.Figure()
    dash = {"color": THEORY, "dash": "dash", "width": 1.5}
    fig.add_scatter(x=d_k, y=d_k, mode="lines", line=dash, name=_("textbook: d_k, and 1"), hoverinfo="skip")
    fig.add_scatter(x=d_k, y=np.ones(len(d_k)), mode="lines", line=dash, showlegend=False, hoverinfo="skip")
    if not np.allclose(exact, d_k):
        dots = {"color": RAW, "dash": "dot", "width": 1.5}
        fig.add_scatter(x=d_k, y=exact, mode="lines", line=dots, name=_("exact, for what was drawn"), hoverinfo="skip")
    for (measured, error), colour, name in ((raw, RAW, _("raw")), (scaled, SCALED, _("scaled"))):
        fig.add_scatter(
            x=d_k,
            y=measured,
            error_y={"array": 2 * error, "color": colour, "thickness": 1.2, "width": 3},
            mode="markers",
            marker={"color": colour, "size": 7},
            name=name,
            hovertemplate="d_k %{x}: %{y:.4g}<extra></extra>",
        )
    fig.add_scatter(
        x=[here[0], here[0]],
        y=[here[1], here[2]],
        mode="markers",
        marker={"color": [RAW, SCALED], "size": 15, "symbol": "circle-open", "line_width": 2.5},
        name=_("your d_k"),
        hovertemplate="d_k %{x}: %{y:.5g}<extra></extra>",
    )
    fig.update_xaxes(type="log", title_text="d_k", tickvals=[1, 4, 16, 64, 256, 1024, 4096], range=[-0.1, 3.72])
    fig.update_yaxes(type="log", title_text=_("variance of q·k"), exponentformat="power", dtick=1)
    return layout(fig, height=330)


def measures(
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
    fig = make_subplots(
        2, 2, subplot_titles=list(titles.values()), horizontal_spacing=0.1, vertical_spacing=0.16, shared_xaxes=False
    )
    for place, measure in enumerate(titles):
        row, col = place // 2 + 1, place % 2 + 1
        for name, colour, run in runs:
            _add(fig, name, colour, run[measure], row, col, legend=place == 0)
        fig.update_xaxes(range=[0, steps], row=row, col=col)
    fig.update_yaxes(rangemode="tozero")
    fig.update_yaxes(range=[0, 1.04], tickformat=".0%", row=1, col=2)
    fig.update_yaxes(range=[0, even * 1.08], row=2, col=1)
    fig.update_yaxes(type="log", rangemode="normal", exponentformat="power", row=2, col=2)
    fig.update_xaxes(title_text=_("step"), row=2)
    dash = {"color": THEORY, "width": 1.2, "dash": "dash"}
    fig.add_hline(y=chance, line=dash, row=1, col=2)
    fig.add_hline(y=even, line=dash, row=2, col=1)
    fig.update_annotations(font_size=13)
    fig = layout(fig, height=520)
    return fig.update_layout(legend={"y": 1.08}, margin={"t": above(fig, 56)})


def _add(fig: Figure, name: str, colour: str, values: np.ndarray, row: int, col: int, legend: bool) -> None:
    x = np.arange(1, values.shape[1] + 1)
    if len(x) > 150:  # a point for every other step looks the same
        x, values = x[::2], values[:, ::2]
    low, high = values.min(0), values.max(0)
    if len(values) > 1:
        fig.add_scatter(
            x=np.concatenate([x, x[::-1]]),
            y=np.concatenate([high, low[::-1]]),
            fill="toself",
            fillcolor=with_alpha(colour, 0.18),
            line={"width": 0},
            hoverinfo="skip",
            showlegend=False,
            row=row,
            col=col,
        )
    fig.add_scatter(
        x=x,
        y=values.mean(0),
        mode="lines",
        line={"color": colour, "width": 2},
        name=name,
        legendgroup=name,
        showlegend=legend,
        hovertemplate=_("step %{x}: %{y:.4g}") + f"<extra>{name}</extra>",
        row=row,
        col=col,
    )
