"""Scores over the distance, and words in another order."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from attnviz.base.words import _
from attnviz.figures import heatmap
from attnviz.figures.theme import ALTERNATIVE, RAW, SCALED, SIGNED, THEORY, Figure, layout, with_alpha

POWERS = {"type": "log", "dtick": 1, "exponentformat": "power"}  #: an axis with a tick at each power of ten


def named_line(fig: Figure, y: float, name: str, colour: str, width: float) -> Figure:
    """`fig` with a dashed line at this height of a log axis, and its name over it on the left."""
    fig.add_hline(y=y, line={"color": colour, "dash": "dash", "width": width})
    note = {"text": name, "showarrow": False, "font": {"size": 11, "color": colour}}
    return fig.add_annotation(x=0, y=float(np.log10(y)), xanchor="left", yanchor="bottom", **note)


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
    shape = "hvh" if stairs else "linear"
    traces = [
        go.Scatter(
            x=distance,
            y=values,
            mode="lines",
            line={"color": THEORY, "width": 1, "shape": shape},
            opacity=0.55,
            showlegend=False,
            hovertemplate="%{x}: %{y:.4g}<extra>" + name + "</extra>",
        )
        for name, values in others
    ]
    if float((high - low).max()) > 1e-9:
        band = go.Scatter(
            x=np.concatenate([distance, distance[::-1]]),
            y=np.concatenate([high, low[::-1]]),
            fill="toself",
            fillcolor=with_alpha(SCALED, 0.2),
            line={"width": 0},
            mode="lines",
            hoverinfo="skip",
            name=_("lowest to highest"),
        )
        traces.append(band)
    middle = go.Scatter(
        x=distance,
        y=mean,
        mode="lines",
        line={"color": SCALED, "width": 2.5, "shape": shape},
        name=_("mean"),
        hovertemplate="%{x}: %{y:.4g}<extra></extra>",
    )
    x_axis = {"title_text": _("distance: key minus query"), "zeroline": False}
    fig = go.Figure([*traces, middle], {"xaxis": x_axis, "yaxis_title_text": _("score")})
    fig.add_vline(x=0, line={"color": THEORY, "width": 1, "dash": "dot"})
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
        ),
        {
            "xaxis": {"title_text": _("dimension"), "showgrid": False, "zeroline": False},
            "yaxis": {"title_text": _("position"), "autorange": "reversed", "showgrid": False, "zeroline": False},
        },
    )
    return layout(fig, height=330)


def wavelengths(values: np.ndarray, n: int) -> Figure:
    """Positions that each pair takes for one turn, on a log axis, and the number of positions in the picture."""
    curve = go.Scatter(
        x=np.arange(len(values)),
        y=values,
        mode="lines+markers",
        line={"color": SCALED, "width": 2},
        marker={"size": 5},
        showlegend=False,
        hovertemplate=_("pair %{x}: one turn in %{y:,.4g} positions") + "<extra></extra>",
    )
    look = {
        "xaxis": {"title_text": _("pair"), "zeroline": False},
        "yaxis": POWERS | {"title_text": _("positions for one turn")},
    }
    return layout(named_line(go.Figure(curve, look), n, _("{n} positions").format(n=n), RAW, 1.5), height=330)


def slopes(values: np.ndarray, head: int) -> Figure:
    """ALiBi's slope of every head, on a log axis; the chosen one stands out."""
    bars = go.Bar(
        x=np.arange(len(values)),
        y=values,
        marker={"color": [ALTERNATIVE if i == head else SCALED for i in range(len(values))], "line": {"width": 0}},
        hovertemplate=_("head %{x}: %{y:.4g} for each position of distance") + "<extra></extra>",
    )
    look = {
        "xaxis": {"title_text": _("head"), "dtick": 1 if len(values) <= 16 else 8},
        "yaxis": POWERS | {"title_text": _("slope")},
    }
    return layout(go.Figure(bars, look), height=330)


# How much the outputs change when words change places, for every way in which positions come in.
FLOOR = 1e-17  #: drawn in place of an exact 0 on the log axis


def changes(kinds: Sequence[str], free: np.ndarray, causal: np.ndarray, rounding: float = 1e-9) -> Figure:
    """One row a kind: the largest change of an output without a mask, and with a causal one, on a log axis."""
    both = ((_("no mask"), free, SCALED, "circle"), (_("causal mask"), causal, RAW, "diamond"))
    points = [
        go.Scatter(
            x=np.maximum(values, FLOOR),
            y=list(kinds),
            mode="markers",
            marker={"color": colour, "size": 12, "symbol": symbol},
            name=name,
            customdata=values,
            hovertemplate="%{y}: %{customdata:.3g}<extra>" + name + "</extra>",
        )
        for name, values, colour, symbol in both
    ]
    fig = go.Figure(
        points,
        {
            "xaxis": POWERS | {"range": [-17.3, 1.6], "dtick": 4, "title_text": _("largest change of an output")},
            "yaxis": {"autorange": "reversed", "showgrid": True, "type": "category"},
        },
    ).add_vline(x=rounding, line={"color": THEORY, "width": 1, "dash": "dot"})
    return layout(fig, height=330)
