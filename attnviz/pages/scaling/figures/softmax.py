"""Pictures of softmax: its Jacobian, where exp overflows, and mixtures by weights or by scores."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from attnviz.base.words import _
from attnviz.figures.theme import RAW, SCALED, SERIES, SIGNED, V_GREEN, Figure, layout

#: No entry of diag(p) - p pT is larger: p (1 - p) at p = 1/2.
LARGEST = 0.25


def jacobian(matrix: np.ndarray, keys: Sequence[int], title: str, full_range: bool = True) -> Figure:
    """d weight (rows) / d logit (columns), `keys` numbered from 1; colours from -1/4 to 1/4, or to the largest."""
    top = LARGEST if full_range else max(float(np.abs(matrix).max()), 1e-12)
    gap = 1 if len(keys) <= 16 else 0
    at = list(range(0, len(keys), max(1, len(keys) // 8)))
    axis = {
        "tickvals": at,
        "ticktext": [str(keys[i]) for i in at],
        "showgrid": False,
        "zeroline": False,
        "constrain": "domain",
    }
    fig = go.Figure(
        go.Heatmap(
            z=matrix.astype(np.float32),
            colorscale=SIGNED,
            zmin=-top,
            zmax=top,
            xgap=gap,
            ygap=gap,
            customdata=np.broadcast_to(np.array(keys), matrix.shape),
            hovertemplate=_("weight of key %{y}, logit of key %{x}: %{z:.3g}") + "<extra></extra>",
            colorbar={"thickness": 12, "len": 0.95, "outlinewidth": 0, "tickformat": ".2g", "nticks": 5},
        ),
        {
            "xaxis": axis | {"title_text": _("logit of key")},
            "yaxis": axis | {"title_text": _("weight of key"), "autorange": "reversed", "scaleanchor": "x"},
        },
    )
    return layout(fig, title, 380)


def eigenvalues(spectra: Sequence[tuple[str, str, np.ndarray]]) -> Figure:
    """Eigenvalues by rank for each (name, colour, values largest first), on a log axis; below 1e-12 they count as 0."""
    curves = [
        go.Scatter(
            x=np.arange(1, len(values) + 1),
            y=np.where(values > 1e-12, values, np.nan),
            mode="lines+markers",
            line={"color": colour, "width": 2},
            marker={"size": 7},
            name=name,
            hovertemplate=_("eigenvalue %{x}: %{y:.3g}") + f"<extra>{name}</extra>",
        )
        for name, colour, values in spectra
    ]
    y_axis = {"type": "log", "exponentformat": "power", "range": [-12.3, 0], "dtick": 2}
    look = {
        "xaxis": {"title_text": _("rank"), "rangemode": "tozero"},
        "yaxis": y_axis | {"title_text": _("eigenvalue")},
    }
    return layout(go.Figure(curves, look), height=300)


def overflow(shifts: np.ndarray, attempts: Sequence[tuple[str, np.ndarray, float | None]]) -> Figure:
    """The largest weight after adding a number to every score, for each (format, weight, first addition that broke).

    Softmax does not change when all scores move together: every line should be flat.
    """
    ticks = [0, 1, 3, 10, 30, 100, 300, 1000]
    x_axis = {
        "type": "log",
        "title_text": _("added to every score"),
        "tickvals": [t + 1 for t in ticks],
        "ticktext": [str(t) for t in ticks],
        "range": [-0.05, 3.05],
    }
    fig = go.Figure(layout={"xaxis": x_axis, "yaxis_title_text": _("largest weight, naively")})
    for i, (name, naive, broken) in enumerate(attempts):
        colour = SERIES[i]
        fig.add_scatter(
            x=shifts + 1,
            y=np.where(np.isfinite(naive), naive, np.nan),
            mode="lines",
            line={"color": colour, "width": 2.5},
            name=name,
            customdata=shifts,
            hovertemplate=_("scores + %{customdata:.4g}: %{y:.6f}") + f"<extra>{name}</extra>",
        )
        if broken is None:
            continue
        before = naive[shifts < broken]
        fig.add_scatter(
            x=[broken + 1],
            y=[float(before[-1]) if len(before) and np.isfinite(before[-1]) else 1.0],
            mode="markers+text",
            marker={"symbol": "x", "size": 11, "color": colour},
            text=[f"+{broken:g}"],
            # a mark far right has no room beside it
            textposition=("top " if i % 2 else "bottom ") + ("left" if broken > 100 else "center"),
            showlegend=False,
            hovertemplate=_("breaks when {shift} is added").format(shift=f"{broken:g}") + f"<extra>{name}</extra>",
        )
    return layout(fig, height=320)


def mixes(values: np.ndarray, by_weights: np.ndarray, by_scores: np.ndarray, shifted: np.ndarray) -> Figure:
    """Values (n, 2) as points with their hull; where weights, raw scores, and raw scores + 1 carry the mix."""
    hull = go.Scatter(
        x=values[:, 0],
        y=values[:, 1],
        mode="lines+markers" if len(values) <= 64 else "lines",
        fill="toself" if len(values) > 2 else None,
        fillcolor="rgba(0,158,115,0.12)",
        marker={"color": V_GREEN, "size": 9},
        line={"color": V_GREEN, "width": 1},
        name=_("values, and all mixes of them"),
        hovertemplate=_("value of key %{pointNumber}") + "<extra></extra>",
    )
    arrows = (
        (by_weights, SCALED, "circle", _("mixed by softmax weights")),
        (by_scores, RAW, "diamond", _("mixed by raw scores")),
        (shifted, RAW, "diamond-open", _("by raw scores + 1")),
    )
    drawn = [
        go.Scatter(
            x=[0, end[0]],
            y=[0, end[1]],
            mode="lines+markers",
            line={"color": colour, "width": 1.5, "dash": "dot"},
            marker={"color": colour, "size": [0, 13], "symbol": symbol, "line_width": 2},
            name=name,
            hovertemplate="(%{x:.3g}, %{y:.3g})" + f"<extra>{name}</extra>",
        )
        for end, colour, symbol, name in arrows
    ]
    return layout(go.Figure([hull, *drawn]), height=360)
