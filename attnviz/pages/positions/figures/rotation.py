"""Rotation: one pair on its circle, wavelengths of longer contexts, norms of growing queries, a trained head."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go

from attnviz.base.words import _
from attnviz.figures.theme import K_VERMILION, MASKED, Q_BLUE, RAW, SCALED, SERIES, THEORY, Figure, layout, with_alpha
from attnviz.figures.title_lines import below
from attnviz.pages.positions.figures.scores import POWERS, named_line


# One pair of a query and of a key on its circle: the picture that the browser turns, as a figure to save.
def pair(q: np.ndarray, k: np.ndarray, q_turned: np.ndarray, k_turned: np.ndarray, title: str) -> Figure:
    """Arrows (2,) before (dotted) and after they are turned, each on the circle that it stays on."""
    fig = go.Figure()
    around = np.linspace(0, 2 * np.pi, 181)
    for name, start, now, colour in (("q", q, q_turned, Q_BLUE), ("k", k, k_turned, K_VERMILION)):
        radius = float(np.hypot(*start))
        fig.add_scatter(
            x=radius * np.cos(around),
            y=radius * np.sin(around),
            mode="lines",
            line={"color": with_alpha(colour, 0.35), "width": 1.2},
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
    axis = {"zeroline": True, "showgrid": False, "constrain": "domain"}
    return layout(fig.update_layout(xaxis=axis, yaxis=axis | {"scaleanchor": "x"}), title, height=420)


# Texts longer than trained: wavelengths under each scaling, and scores over distance.
def wavelengths(lines: Mapping[str, np.ndarray], chosen: str, trained: int, wanted: int) -> Figure:
    """Positions that each pair takes for one turn, for every scaling by its name; the chosen one stands out."""
    bold, fine = {"width": 4, "dash": "solid"}, {"width": 1.6, "dash": "dot"}
    colours = dict(zip(lines, [THEORY, *SERIES], strict=False))
    curves = [
        go.Scatter(
            x=np.arange(len(values)),
            y=values,
            mode="lines",
            name=name,
            line=(bold if name == chosen else fine) | {"color": colours[name]},
            hovertemplate=_("pair %{x}: one turn in %{y:,.4g} positions") + f"<extra>{name}</extra>",
        )
        for name, values in lines.items()
    ]
    fig = go.Figure(
        curves,
        {
            "xaxis": {"title_text": _("pair, the fastest first"), "zeroline": False},
            "yaxis": POWERS | {"title_text": _("positions for one turn")},
        },
    )
    for y, words in ((trained, _("trained on {n:,}")), (wanted, _("wanted: {n:,}"))):
        named_line(fig, y, words.format(n=y), THEORY, 1)
    return layout(fig, height=400).update_layout(legend=below())


# How far back a head looks, before and after its rotation was changed.
def over_distance(distance: np.ndarray, plain: np.ndarray, chosen: np.ndarray, name: str, trained: int) -> Figure:
    """q.k / sqrt(D) over distance as trained and with the chosen scaling; beyond the trained length it is shaded."""
    curves = [
        go.Scatter(
            x=distance,
            y=values,
            mode="lines",
            name=words,
            line={"color": colour, "width": width},
            hovertemplate="%{x:,}: %{y:.4g}<extra>" + words + "</extra>",
        )
        for values, words, colour, width in ((plain, _("as trained"), RAW, 1.6), (chosen, name, SCALED, 2.2))
    ]
    x_axis = {"title_text": _("distance"), "zeroline": False, "range": [0, float(distance[-1])]}
    fig = go.Figure(curves, {"xaxis": x_axis, "yaxis_title_text": _("score")})
    fig.add_vrect(x0=trained, x1=float(distance[-1]), fillcolor=with_alpha(THEORY, 0.16), line_width=0)
    return layout(fig, height=400)


# Attention with and without normalised queries and keys, as the projections grow.
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
    curves = [
        go.Scatter(
            x=factors,
            y=values,
            mode="lines+markers",
            name=name,
            line={"color": colour, "width": 2.5},
            marker={"size": 5},
            hovertemplate="× %{x:.3g}: %{y:.4g}<extra>" + name + "</extra>",
        )
        for values, name, colour in ((without, _("without the norm"), RAW), (normed, _("with the norm"), SCALED))
    ]
    y_axis: dict[str, Any] = POWERS | {"rangemode": "normal"} if log_y else {"rangemode": "tozero"}
    fig = go.Figure(
        curves,
        {
            "xaxis": {"type": "log", "title_text": _("W_q and W_k ×"), "tickvals": [0.5, 1, 2, 4, 8, 16, 32]},
            "yaxis": y_axis | ({"tickformat": ".0%", "range": [0, 1.02]} if share else {}),
        },
    )
    if bound is not None:
        fig.add_hline(y=bound, line={"color": THEORY, "dash": "dash", "width": 1.3})
        note = {"text": _("bound"), "showarrow": False, "font": {"size": 11, "color": THEORY}}
        fig.add_annotation(x=float(np.log10(factors[-1])), y=float(np.log10(bound)), yanchor="bottom", **note)
    fig.add_vline(x=here, line={"color": THEORY, "dash": "dot", "width": 1})
    return layout(fig, title, height=330).update_layout(legend=below())


def tokens_back(before: np.ndarray, after: np.ndarray) -> Figure:
    """Mean weight on the key so many tokens back, as trained and changed, side by side."""
    bars = [
        go.Bar(
            x=np.arange(len(values)),
            y=values,
            name=name,
            marker={"color": colour, "line": {"width": 0}},
            hovertemplate=_("%{x} tokens back: %{y:.1%}") + f"<extra>{name}</extra>",
        )
        for values, name, colour in ((before, _("as trained"), MASKED), (after, _("changed"), SCALED))
    ]
    look = {
        "barmode": "group",
        "xaxis": {"title_text": _("tokens back"), "zeroline": False},
        "yaxis": {"title_text": _("mean weight"), "tickformat": ".0%", "rangemode": "tozero"},
    }
    return layout(go.Figure(bars, look), height=330)
