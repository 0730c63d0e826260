"""Which query heads share which K/V heads, and what sharing changes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from attnviz.base.rounding import Rounded
from attnviz.base.words import _
from attnviz.figures.byte_axes import binary_ticks, titled
from attnviz.figures.heatmap import label
from attnviz.figures.theme import (
    FONT,
    K_VERMILION,
    MASKED,
    Q_BLUE,
    RAW,
    SCALED,
    V_GREEN,
    WEIGHTS,
    Figure,
    layout,
    with_alpha,
)

ABREAST = 6  #: small heads in a line, at most


def groups(
    before: np.ndarray, after: np.ndarray, heads: Sequence[int], tokens: Sequence[str], hidden: np.ndarray
) -> Figure:
    """Weights of some heads, (n, Q, K), as trained (above) and sharing one K/V head (below); one scale for all."""
    n = len(heads)
    across = n if n <= 9 else -(-n // 2)
    bands = -(-n // across)
    titles = [""] * (2 * bands * across)
    for i, head in enumerate(heads):
        titles[2 * (i // across) * across + i % across] = _("head {head}").format(head=head)
    fig = make_subplots(
        rows=2 * bands, cols=across, subplot_titles=titles, horizontal_spacing=0.01, vertical_spacing=0.05 / bands
    )
    for row, stack in enumerate((before, after), 1):
        for i, weights in enumerate(stack):
            fig.add_trace(_small(weights, tokens, hidden), row=row + 2 * (i // across), col=1 + i % across)
    fig.update_xaxes(visible=False, constrain="domain")
    fig.update_yaxes(showticklabels=False, autorange="reversed", showgrid=False, zeroline=False, constrain="domain")
    for row in range(2 * bands):
        name = _("shared") if row % 2 else _("as trained")
        fig.update_yaxes(title={"text": name, "font": {"size": 12}}, row=row + 1, col=1)
    bar = {"title": {"text": _("weight"), "side": "right"}, "thickness": 10, "len": 0.9, "outlinewidth": 0}
    fig.update_layout(coloraxis={"colorscale": WEIGHTS, "cmin": 0, "cmax": 1, "colorbar": bar})
    layout(fig, height=bands * int(np.clip(2300 / max(across, 4), 270, 460)))
    for i in range(2 * bands * across):  # square cells, with the mask's grey behind them only
        fig.update_yaxes(scaleanchor=f"x{i + 1}" if i else "x", row=1 + i // across, col=1 + i % across)
    fig.update_layout(margin={"t": 28}, plot_bgcolor=with_alpha(MASKED, 0.3))
    fig.update_annotations(font_size=12)
    return fig


def pairs(
    before: np.ndarray, after: np.ndarray, heads: Sequence[int], tokens: Sequence[str], hidden: np.ndarray, side: int
) -> Figure:
    """Weights of some heads, (n, Q, K), as trained (above) and sharing their keys (below), each `side` pixels wide.

    One trace, in whose cells all heads lie beside each other, and in two lines where they are many: a chart for each
    costs a class that opens the page more than all else on it.
    """
    n, bands = len(tokens), 1 if len(heads) <= ABREAST else 2
    across, gap, above = -(-len(heads) // bands), max(1, round(8 * n / side)), max(1, round(20 * n / side))
    pair_height = above + 2 * n + 1
    shape = bands * pair_height, across * (n + gap) - gap
    z = np.full(shape, np.nan, np.float32)
    names = [label(t) for t in tokens]
    # tokens are labels of the axes, which only a hand that points at a cell sees: for each cell they would be thousands
    query = [*[""] * above, *names, "", *names] * bands
    key = [*names, *[""] * gap] * across
    shapes: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    grey: dict[str, Any] = {
        "type": "rect",
        "line": {"width": 0},
        "fillcolor": with_alpha(MASKED, 0.3),
        "layer": "below",
    }
    for i, head in enumerate(heads):
        top, left = i // across * pair_height + above, i % across * (n + gap)
        for start, weights in ((top, before[i]), (top + n + 1, after[i])):
            place = slice(start, start + n), slice(left, left + n)
            z[place] = np.where(hidden, np.nan, weights)
            edges = {"x0": left - 0.5, "x1": left + n - 0.5, "y0": start - 0.5, "y1": start + n - 0.5}
            shapes.append(grey | edges)
        # an annotation: Streamlit's theme moves a title to the left edge of its chart
        name = {"text": _("head {head}").format(head=head), "font": {"size": 12}, "showarrow": False}
        annotations.append(name | {"x": left + (n - 1) / 2, "y": top - 0.5, "xanchor": "center", "yanchor": "bottom"})
    trace = {
        "type": "heatmap",
        "z": z,
        "colorscale": WEIGHTS,
        "zmin": 0,
        "zmax": 1,
        "showscale": False,
        "hovertemplate": "%{y} → %{x}<br><b>%{z:.4f}</b><extra></extra>",
        "hoverongaps": False,
    }
    axis = dict.fromkeys(("showticklabels", "showgrid", "zeroline", "automargin"), False) | {"tickmode": "array"}
    return go.Figure(
        {
            "data": [trace],
            "layout": {
                "annotations": annotations,
                "font": {"family": FONT, "size": 13},
                "width": round(shape[1] * side / n),
                "height": round(shape[0] * side / n),
                "margin": dict.fromkeys("lrtb", 0),
                "paper_bgcolor": "rgba(0,0,0,0)",
                "plot_bgcolor": "rgba(0,0,0,0)",
                "xaxis": axis | _labels(key[: shape[1]]) | {"range": [-0.5, shape[1] - 0.5]},
                "yaxis": axis | _labels(query) | {"range": [shape[0] - 0.5, -0.5]},
                "shapes": shapes,
            },
        }
    )


def _labels(names: Sequence[str]) -> dict[str, list[Any]]:
    return {"tickvals": list(range(len(names))), "ticktext": list(names)}


def _small(weights: np.ndarray, tokens: Sequence[str], hidden: np.ndarray) -> go.Heatmap:
    names = np.array([label(t) for t in tokens], dtype=object)
    return go.Heatmap(
        z=np.where(hidden, np.nan, weights).astype(np.float32),
        coloraxis="coloraxis",
        customdata=np.broadcast_to(names, weights.shape),
        text=np.broadcast_to(names[:, None], weights.shape),
        hovertemplate="%{text} → %{customdata}<br><b>%{z:.4f}</b><extra></extra>",
        hoverongaps=False,
    )


def moved(weights: np.ndarray, outputs: np.ndarray, kv_of: Sequence[int]) -> Figure:
    """For each query head the share of its attention that moved to other keys, and its output's relative change."""
    bars = {
        "x": [_("head {head}").format(head=h) for h in range(len(weights))],
        "hovertemplate": "%{x}: %{y:.1%}<extra>%{fullData.name}</extra>",
    }
    fig = go.Figure(
        [
            go.Bar(y=weights, name=_("attention that moved"), marker_color=Q_BLUE, **bars),
            go.Bar(y=outputs, name=_("change of output"), marker_color=V_GREEN, **bars),
        ],
        {"yaxis": {"tickformat": ".0%", "rangemode": "tozero"}},
    )
    for edge in (h for h in range(1, len(kv_of)) if kv_of[h] != kv_of[h - 1]):
        fig.add_vline(x=edge - 0.5, line={"color": MASKED, "width": 1, "dash": "dot"})
    return layout(fig, height=250)


def sweep(
    kv_heads: Sequence[int],
    change: Sequence[float],
    cache: Sequence[int],
    chosen: int,
    names: Sequence[str],
) -> Figure:
    """What sharing costs and what it saves: the change of the layer's output and its cache, by number of K/V heads."""
    names, most = list(names), max(max(change), 0.01) * 1.15
    saved = go.Bar(
        x=names,
        y=cache,
        name=_("K/V bytes"),
        marker_color=[with_alpha(K_VERMILION, 0.85 if g == chosen else 0.35) for g in kv_heads],
        hovertemplate="%{x}: %{y:,} B<extra></extra>",
    )
    line = go.Scatter(
        x=names,
        y=change,
        name=_("change of the layer's output"),
        line={"color": V_GREEN, "width": 3},
        mode="lines+markers",
        yaxis="y2",
        hovertemplate="%{x}: %{y:.1%}<extra></extra>",
    )
    left = {"title": titled(_("bytes")), "range": [0, max(cache) * 1.15], **binary_ticks(max(cache))}
    right = {
        "title": titled(_("change")),
        "tickformat": ".0%",
        "dtick": 0.25 if most < 1.3 else 0.5,
        "range": [0, most],
        "showgrid": False,
        "overlaying": "y",
        "side": "right",
        "anchor": "x",
    }
    x_axis = {"type": "category", "title": titled(_("K/V heads")), "domain": [0.0, 0.94]}
    return layout(go.Figure([saved, line], {"xaxis": x_axis, "yaxis": left, "yaxis2": right}), height=270)


def guesses(tokens: Sequence[str], before: Sequence[float], after: Sequence[float]) -> Figure:
    """The next token's probabilities as trained and with shared keys and values."""
    places = list(range(len(tokens)))
    bars = [
        go.Bar(
            y=places,
            x=list(values),
            name=name,
            orientation="h",
            marker_color=colour,
            customdata=[label(t, 30) for t in tokens],
            text=[f"{Rounded(value):.1%}" for value in values],
            textposition="outside",
            cliponaxis=False,
            hovertemplate="%{customdata}: %{x:.2%}<extra>" + name + "</extra>",
        )
        for values, name, colour in ((before, _("as trained"), SCALED), (after, _("shared"), RAW))
    ]
    most = max(*before, *after, 0.0) or 1.0
    look = {
        "yaxis": {
            "tickmode": "array",
            "tickvals": places,
            "ticktext": [label(t) for t in tokens],
            "autorange": "reversed",
            "zeroline": False,
        },
        # with room for the numbers beside the bars
        "xaxis": {"title": {"text": _("probability")}, "tickformat": ".0%", "range": [0, 1.15 * most]},
        "bargap": 0.25,
    }
    return layout(go.Figure(bars, look), height=max(220, 44 * len(tokens) + 70))
