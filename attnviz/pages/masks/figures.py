"""Figures of the mask page: how far layers reach, a mask over thousands of words, and training under a leaking mask."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from attnviz.base.rounding import Rounded
from attnviz.base.words import _
from attnviz.figures.heatmap import label, matrix
from attnviz.figures.theme import ALTERNATIVE, MASKED, RAW, SCALED, THEORY, WEIGHTS, Figure, layout


def hops(layers: np.ndarray, words: Sequence[str], upto: int) -> Figure:
    """Layers until a key has reached a query (T, T), -1 = never; cells that need more than `upto` layers are grey."""
    shown = np.where((layers >= 0) & (layers <= upto), layers, -1)
    fig = matrix(
        shown.astype(float),
        words,
        words,
        kind="plain",
        masked=shown < 0,
        numbers=False,
        value_title=_("layers"),
        masked_name=_("not reached"),
        row_title=_("queries"),
        col_title=_("keys"),
        height=430,
    )
    heat = fig.data[-1]
    heat.update(
        zmin=0,
        zmax=max(upto, 1),
        colorscale=[(at, colour) for (at, _dark), (_at, colour) in zip(WEIGHTS, reversed(WEIGHTS), strict=True)],
        colorbar={"tickformat": "d", "nticks": min(upto + 1, 8), **heat.colorbar.to_plotly_json()},
        hovertemplate="%{y} ← %{x}<br>" + _("after {n} layers").format(n="%{z}") + "<extra></extra>",
    )
    if len(words) <= 20:
        heat.update(texttemplate="%{z:d}", showscale=False)
        return fig
    step = -(-len(words) // 18)
    thinned = {"tickvals": [*range(0, len(words), step)], "ticktext": [label(word) for word in words[::step]]}
    return fig.update_layout(xaxis=thinned, yaxis=thinned)


def reach(counts: np.ndarray, words: int, upto: int) -> Figure:
    """How many words have reached the last word after 0, 1, 2... layers, and the mean over all words.

    `counts` (layers + 1, T); the layer `upto` is marked.
    """
    lines = ((counts[:, -1], _("the last word"), SCALED), (counts.mean(1), _("mean over all words"), RAW))
    x = np.arange(len(counts))
    fig = go.Figure(
        [
            go.Scatter(x=x, y=values, name=name, mode="lines+markers", line={"color": colour, "width": 2.5})
            for values, name, colour in lines
        ],
        {
            "xaxis": {"title": _("layers"), "dtick": 1, "zeroline": False},
            "yaxis": {"title": _("words that reach it"), "range": [0, words * 1.08 + 0.2], "zeroline": False},
            "hovermode": "x unified",
        },
    )
    fig.add_vline(x=upto, line={"color": THEORY, "dash": "dot", "width": 1.5})
    fig.add_hline(y=words, line={"color": THEORY, "dash": "dash", "width": 1})
    return layout(fig, None, 430)


def far(density: np.ndarray, length: int) -> Figure:
    """A mask over `length` words in tiles: the share of each tile's pairs that is kept, 0 to 1."""
    hidden = go.Heatmap(
        z=np.where(density > 0, np.nan, 1.0),
        colorscale=[(0, MASKED), (1, MASKED)],
        zmin=0,
        zmax=1,
        opacity=0.3,
        showscale=False,
        hoverinfo="skip",
    )
    kept = go.Heatmap(
        z=np.sqrt(np.where(density > 0, density, np.nan)),
        customdata=density,
        zmin=0,
        zmax=1,
        colorscale=WEIGHTS,
        hoverongaps=False,
        hovertemplate=_("{share} of this tile's pairs are kept").format(share="<b>%{customdata:.2%}</b>")
        + "<extra></extra>",
        colorbar={
            "title": {"text": _("share kept"), "side": "right"},
            "tickvals": [np.sqrt(v) for v in (0.01, 0.1, 0.25, 0.5, 1)],
            "ticktext": ["1%", "10%", "25%", "50%", "100%"],
            "thickness": 12,
            "outlinewidth": 0,
        },
    )
    tiles = len(density)
    places = np.linspace(0, tiles, 5)
    axis = {
        "tickvals": places - 0.5,
        "ticktext": [f"{int(v):,}" for v in places * length / tiles],
        "showgrid": False,
        "zeroline": False,
        "constrain": "domain",
    }
    axes = {
        "xaxis": axis | {"side": "top", "title": _("key position")},
        "yaxis": axis | {"autorange": "reversed", "title": _("query position"), "scaleanchor": "x"},
    }
    return layout(go.Figure([hidden, kept], axes), None, 460)


def losses(
    steps: np.ndarray, honest: np.ndarray, leaking: np.ndarray, without_leak: np.ndarray, guess: float, total: int
) -> Figure:
    """Training losses in nats per word over steps, and `guess`, the loss of guessing blindly."""
    lines = (
        (honest, _("mask right"), SCALED, "solid"),
        (leaking, _("mask shifted"), RAW, "solid"),
        (without_leak, _("mask shifted, asked without the leak"), ALTERNATIVE, "dot"),
    )
    top = max(2.5 * guess, 1.0)
    fig = go.Figure(
        [
            go.Scatter(x=steps, y=values, name=name, mode="lines", line={"color": colour, "width": 2.5, "dash": dash})
            for values, name, colour, dash in lines
        ],
        {
            "xaxis": {"title": _("training step"), "range": [0, total], "zeroline": False},
            "yaxis": {"title": _("loss, nats per word"), "range": [-0.05 * top, top], "zeroline": False},
            "hovermode": "x unified",
        },
    )
    fig.add_hline(
        y=guess,
        line={"color": THEORY, "dash": "dash", "width": 1},
        annotation={"text": _("guessing blindly: {nats}").format(nats=f"{Rounded(guess):.2f}"), "xanchor": "right"},
    )
    return layout(fig, None, 400)


def places(weights: np.ndarray) -> Figure:
    """Mean weights (T, T) between places 1 to T of a line."""
    names = [label(str(n + 1)) for n in range(len(weights))]
    return matrix(weights, names, names, masked=weights == 0, numbers=False, row_title=_("place"), height=340)
