"""How far q.k scatters: of random vectors over d_k, beside theory, and in a trained head, with what scaling does."""

import math

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from attnviz.base.rounding import Rounded
from attnviz.base.words import _
from attnviz.figures.theme import RAW, SCALED, THEORY, Figure, layout, with_alpha

NARROWEST = 20.0  #: either side of 0: from d_k = 1 to 16 this axis stays, and the raw products are seen to grow


def histograms(
    raw: tuple[np.ndarray, np.ndarray], scaled: tuple[np.ndarray, np.ndarray], d_k: int, marked: bool = False
) -> Figure:
    """Raw q.k above scaled q.k, each (density per bin, edges), over N(0, d_k) and N(0, 1), on one axis of values.

    `marked`: lines where a product has its typical size, one standard deviation.
    """
    fig = make_subplots(2, 1, shared_xaxes=True, vertical_spacing=0.08)
    parts = (
        (raw, _("raw q·k"), RAW, d_k, _("normal, variance {variance}").format(variance=d_k), "solid"),
        (scaled, _("scaled q·k/√d_k"), SCALED, 1, _("normal, variance 1"), "dash"),
    )
    for row, ((density, edges), title, colour, variance, predicted, dash) in enumerate(parts, 1):
        fig.add_bar(
            x=(edges[1:] + edges[:-1]) / 2,
            y=density,
            width=np.diff(edges),
            marker={"color": with_alpha(colour, 0.6), "line_width": 0},
            showlegend=False,
            hovertemplate=_("around %{x:.3g}: density %{y:.4g}") + "<extra></extra>",
            row=row,
            col=1,
        )
        x = np.linspace(edges[0], edges[-1], 181)
        fig.add_scatter(
            x=x,
            y=np.exp(-(x**2) / (2 * variance)) / math.sqrt(2 * math.pi * variance),  # density of that normal
            mode="lines",
            line={"color": THEORY, "width": 2, "dash": dash},
            name=predicted,
            showlegend=row == 1 or d_k > 1,  # with one number in a vector both are the same curve
            hoverinfo="skip",
            row=row,
            col=1,
        )
        for text, side in (("", -1), (f"{Rounded(math.sqrt(variance)):.3g}", 1)) if marked else ():
            fig.add_vline(
                side * math.sqrt(variance), line={"color": THEORY, "dash": "dot"}, annotation_text=text, row=row, col=1
            )
        fig.update_yaxes(title_text=title, rangemode="tozero", nticks=4, row=row, col=1)
    fig.update_xaxes(range=(min(-NARROWEST, raw[1][0], scaled[1][0]), max(NARROWEST, raw[1][-1], scaled[1][-1])))
    fig.update_xaxes(title_text=_("value of the product; heights are densities"), row=2, col=1)
    return layout(fig.update_layout(bargap=0), height=360)


def growth(
    d_k: np.ndarray, raw: np.ndarray, error: np.ndarray, exact: np.ndarray, here: tuple[int, float, float]
) -> Figure:
    """Variance of q.k, raw and scaled, over d_k, both axes logarithmic, with two errors and with d_k and 1 as lines.

    `exact`: the true variance of raw q.k where the assumptions do not hold. `here`: the chosen
    d_k and the two variances measured there.
    """
    dashes = {"color": THEORY, "dash": "dash", "width": 1.5}
    predictions = [(d_k, dashes, _("textbook: d_k, and 1")), (np.ones(len(d_k)), dashes, None)]
    if not np.allclose(exact, d_k):
        predictions.append((exact, dashes | {"color": RAW, "dash": "dot"}, _("exact, for what was drawn")))
    lines = [
        go.Scatter(x=d_k, y=y, mode="lines", line=line, name=name, showlegend=None if name else False, hoverinfo="skip")
        for y, line, name in predictions
    ]
    points = [
        go.Scatter(
            x=d_k,
            y=raw / divisor,
            error_y={"array": 2 * (error / divisor), "color": colour, "thickness": 1.2, "width": 3},
            mode="markers",
            marker={"color": colour, "size": 7},
            name=name,
            hovertemplate="d_k %{x}: %{y:.4g}<extra></extra>",
        )
        for divisor, colour, name in ((1, RAW, _("raw")), (d_k, SCALED, _("scaled")))
    ]
    chosen = go.Scatter(
        x=[here[0], here[0]],
        y=[here[1], here[2]],
        mode="markers",
        marker={"color": [RAW, SCALED], "size": 15, "symbol": "circle-open", "line_width": 2.5},
        name=_("your d_k"),
        hovertemplate="d_k %{x}: %{y:.5g}<extra></extra>",
    )
    look = {
        "xaxis": {
            "type": "log",
            "title_text": "d_k",
            "tickvals": [1, 4, 16, 64, 256, 1024, 4096],
            "range": [-0.1, 3.72],
        },
        "yaxis": {"type": "log", "title_text": _("variance of q·k"), "exponentformat": "power", "dtick": 1},
    }
    return layout(go.Figure([*lines, *points, chosen], look), height=330)


def by_dimension(variances: np.ndarray) -> Figure:
    """Variance of q_i k_i for each dimension i, largest first; dashed: 1, as for random vectors."""
    order = np.argsort(variances)[::-1]
    fig = go.Figure(
        go.Bar(
            x=np.arange(1, len(order) + 1),
            y=variances[order],
            customdata=order,
            marker={"color": RAW, "line_width": 0},
            hovertemplate=_("dimension %{customdata}: variance %{y:.4g}") + "<extra></extra>",
        ),
        {
            "bargap": 0.1,
            "xaxis_title_text": _("dimensions, largest first"),
            "yaxis_title_text": _("variance of q_i k_i"),
        },
    )
    fig.add_hline(y=1, line={"color": THEORY, "dash": "dash", "width": 1.3})
    fig.add_annotation(
        x=len(order),
        y=1,
        text=_("random vectors: 1"),
        showarrow=False,
        xanchor="right",
        yanchor="bottom",
        yshift=5,
        font={"size": 11, "color": THEORY},
    )
    return layout(fig, height=300)


def entropy_over_scale(multiples: np.ndarray, shares: np.ndarray, marks: dict[str, tuple[float, float, str]]) -> Figure:
    """Entropy share over multiples of the model's own scale; `marks`: name -> (multiple, share, colour)."""
    curve = go.Scatter(
        x=multiples,
        y=shares,
        mode="lines",
        line={"color": THEORY, "width": 2.5},
        showlegend=False,
        hovertemplate=_("%{x:.3g} times the model's scale: %{y:.1%}") + "<extra></extra>",
    )
    points = [
        go.Scatter(
            x=[multiple],
            y=[share],
            mode="markers",
            marker={"color": colour, "size": 13},
            name=name,
            hovertemplate=f"%{{y:.1%}}<extra>{name}</extra>",
        )
        for name, (multiple, share, colour) in marks.items()
    ]
    x_title, ticks = _("scale, as a multiple of the model's own"), [0.125, 0.5, 1, 2, 8, 32]
    look = {
        "xaxis": {"type": "log", "title_text": x_title, "tickvals": ticks},
        "yaxis": {
            "title_text": _("entropy, share of its most"),
            "range": [-0.03, 1.05],
            "tickformat": ".0%",
        },
    }
    return layout(go.Figure([curve, *points], look), height=300)
