"""Scores over the distance, and words in another order."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from attnviz.base.words import _
from attnviz.figures import heatmap
from attnviz.figures.theme import ALTERNATIVE, RAW, SCALED, SIGNED, THEORY, Figure, layout, with_alpha


def position_map(scores: np.ndarray) -> Figure:
    """Position against position, the query's in rows: colours centred on 0."""
    names = [str(i) for i in range(len(scores))]
    return heatmap.matrix(
        scores,
        names,
        names,
        "scores",
        row_title=_("position of the query"),
        col_title=_("position of the key"),
        numbers=False,
        height=400,
        value_title=_("score"),
        labels_that_fit=9,
    )


def over_distance(
    distance: np.ndarray,
    mean: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    others: Sequence[tuple[str, np.ndarray]] = (),
    stairs: bool = False,
) -> Figure:
    """The score at each distance, with a band from lowest to highest; `others` are further heads, thin."""
    fig = go.Figure()
    shape = "hvh" if stairs else "linear"
    for name, values in others:
        line = {"color": THEORY, "width": 1, "shape": shape}
        hover = "%{x}: %{y:.4g}<extra>" + name + "</extra>"
        fig.add_scatter(
            x=distance, y=values, mode="lines", line=line, opacity=0.55, showlegend=False, hovertemplate=hover
        )
    if float((high - low).max()) > 1e-9:
        fig.add_scatter(
            x=np.concatenate([distance, distance[::-1]]),
            y=np.concatenate([high, low[::-1]]),
            fill="toself",
            fillcolor=with_alpha(SCALED, 0.2),
            line={"width": 0},
            mode="lines",
            hoverinfo="skip",
            name=_("lowest to highest"),
        )
    fig.add_scatter(
        x=distance,
        y=mean,
        mode="lines",
        line={"color": SCALED, "width": 2.5, "shape": shape},
        name=_("mean"),
        hovertemplate="%{x}: %{y:.4g}<extra></extra>",
    )
    fig.add_vline(x=0, line={"color": THEORY, "width": 1, "dash": "dot"})
    fig.update_xaxes(title_text=_("distance: key minus query"), zeroline=False)
    fig.update_yaxes(title_text=_("score"))
    return layout(fig, height=330)


def encoding(values: np.ndarray) -> Figure:
    """The vectors themselves: a row for each position, a column for each dimension."""
    top = float(np.abs(values).max()) or 1.0
    fig = go.Figure(
        go.Heatmap(
            z=values.astype(np.float32),
            colorscale=SIGNED,
            zmin=-top,
            zmax=top,
            zmid=0,
            hovertemplate=_("position %{y}, dimension %{x}: %{z:.4f}") + "<extra></extra>",
            colorbar={"thickness": 12, "len": 0.9, "outlinewidth": 0},
        )
    )
    fig.update_xaxes(title_text=_("dimension"), showgrid=False, zeroline=False)
    fig.update_yaxes(title_text=_("position"), autorange="reversed", showgrid=False, zeroline=False)
    return layout(fig, height=330)


def wavelengths(values: np.ndarray, n: int) -> Figure:
    """Positions that each pair takes for one turn, on a log axis, and the number of positions in the picture."""
    fig = go.Figure(
        go.Scatter(
            x=np.arange(len(values)),
            y=values,
            mode="lines+markers",
            line={"color": SCALED, "width": 2},
            marker={"size": 5},
            showlegend=False,
            hovertemplate=_("pair %{x}: one turn in %{y:,.4g} positions") + "<extra></extra>",
        )
    )
    fig.add_hline(y=n, line={"color": RAW, "dash": "dash", "width": 1.5})
    note = {"text": _("{n} positions").format(n=n), "showarrow": False, "font": {"size": 11, "color": RAW}}
    fig.add_annotation(x=0, y=float(np.log10(n)), xanchor="left", yanchor="bottom", **note)
    fig.update_xaxes(title_text=_("pair"), zeroline=False)
    fig.update_yaxes(type="log", dtick=1, exponentformat="power", title_text=_("positions for one turn"))
    return layout(fig, height=330)


def slopes(values: np.ndarray, head: int) -> Figure:
    """ALiBi's slope of every head, on a log axis; the chosen one stands out."""
    colours = [ALTERNATIVE if i == head else SCALED for i in range(len(values))]
    fig = go.Figure(
        go.Bar(
            x=np.arange(len(values)),
            y=values,
            marker={"color": colours, "line": {"width": 0}},
            hovertemplate=_("head %{x}: %{y:.4g} for each position of distance") + "<extra></extra>",
        )
    )
    fig.update_xaxes(title_text=_("head"), dtick=1 if len(values) <= 16 else 8)
    fig.update_yaxes(title_text=_("slope"), type="log", exponentformat="power", dtick=1)
    return layout(fig, height=330)


# How much the outputs change when words change places, for every way in which positions come in.
FLOOR = 1e-17  #: drawn in place of an exact 0 on the log axis


def changes(kinds: Sequence[str], free: np.ndarray, causal: np.ndarray, rounding: float = 1e-9) -> Figure:
    """One row a kind: the largest change of an output without a mask, and with a causal one, on a log axis."""
    fig = go.Figure()
    for name, values, colour, symbol in (
        (_("no mask"), free, SCALED, "circle"),
        (_("causal mask"), causal, RAW, "diamond"),
    ):
        fig.add_scatter(
            x=np.maximum(values, FLOOR),
            y=list(kinds),
            mode="markers",
            marker={"color": colour, "size": 12, "symbol": symbol},
            name=name,
            customdata=values,
            hovertemplate="%{y}: %{customdata:.3g}<extra>" + name + "</extra>",
        )
    fig.add_vline(x=rounding, line={"color": THEORY, "width": 1, "dash": "dot"})
    fig.update_xaxes(
        type="log", range=[-17.3, 1.6], dtick=4, exponentformat="power", title_text=_("largest change of an output")
    )
    fig.update_yaxes(autorange="reversed", showgrid=True, type="category")
    return layout(fig, height=330)
