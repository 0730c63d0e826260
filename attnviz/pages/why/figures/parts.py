"""What each part of a model adds to a logit, layer over layer, and what it would say if it ended there."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from attnviz.base.words import _
from attnviz.figures.heatmap import label
from attnviz.figures.theme import ALTERNATIVE, FONT, PRIMARY, SCALED, THEORY, Figure, layout

HEADS, MLPS, BELOW = SCALED, ALTERNATIVE, THEORY
NAMED = 10
ROW = 14  #: pixels of a layer


def _height(layers: int, below: int) -> int:
    return int(np.clip(110 + ROW * (layers + below), 360, 620))


def ladder(
    heads: np.ndarray,
    mlps: np.ndarray,
    below: Sequence[tuple[str, float]],
    total: str,
    chosen: tuple[int, int] | None = None,
) -> Figure:
    """Bars of every head (layers, heads) and MLP, the first layer at the bottom; below it what enters.

    In each row the heads lie end to end above, the MLP below. A head's `customdata` is its number,
    layer by layer. The largest ones carry their names.
    """
    layers, widest = heads.shape
    fig = go.Figure()
    at, widths, bases, numbers, texts = _laid(heads)
    fig.add_trace(_bars(_("heads"), HEADS, at, widths, bases, 0.02, numbers, texts))
    flat = [int(layer) for layer in range(layers)]
    words = [_("MLP {layer}").format(layer=layer) for layer in flat]
    fig.add_trace(_bars(_("MLPs"), MLPS, flat, mlps.tolist(), [0.0] * layers, -0.44, None, words))
    rows = [-2.0 - n for n in range(len(below))]
    values = [value for _name, value in below]
    fig.add_trace(_bars(_("before the layers"), BELOW, rows, values, [0.0] * len(rows), -0.21, None, [n for n, _v in below]))
    _name_largest(fig, heads, mlps)
    if chosen is not None:
        n = chosen[0] * widest + chosen[1]
        k = numbers.index(n)
        fig.add_shape(
            type="rect", x0=bases[k], x1=bases[k] + widths[k], y0=at[k] + 0.0, y1=at[k] + 0.46, line={"color": PRIMARY[1], "width": 2}
        )
    ticks = [n for n in range(layers) if n % (5 if layers > 12 else 1) == 0 or n == layers - 1 and layers <= 12]
    fig.update_yaxes(
        tickvals=[*rows, *ticks],
        ticktext=[*(name for name, _value in below), *map(str, ticks)],
        range=_range(layers, len(below)),
        showgrid=False,
        zeroline=False,
        title={"text": _("layer"), "standoff": 4},
    )
    fig.update_xaxes(title_text=total, zeroline=True, zerolinewidth=1)
    fig.update_layout(barmode="overlay", dragmode=False, bargap=0)
    layout(fig, height=_height(layers, len(below)))
    return fig.update_layout(margin_t=34)


def _laid(heads: np.ndarray) -> tuple[list[int], list[float], list[float], list[int], list[str]]:
    """Rows, lengths, starts, numbers and names of all heads, end to end from nought, up to the right, down to the left."""
    at, lengths, starts, numbers, names = [], [], [], [], []
    for layer, row in enumerate(heads):
        right = left = 0.0
        for head in np.argsort(-np.abs(np.nan_to_num(row))):
            value = float(row[head])
            if np.isnan(value):
                continue
            at.append(layer)
            lengths.append(value)
            starts.append(right if value > 0 else left)
            right, left = (right + value, left) if value > 0 else (right, left + value)
            numbers.append(layer * heads.shape[1] + int(head))
            names.append(_("head {layer}.{head}").format(layer=layer, head=int(head)))
    return at, lengths, starts, numbers, names


def _bars(
    name: str,
    colour: str,
    rows: Sequence[float],
    lengths: Sequence[float],
    starts: Sequence[float],
    offset: float,
    numbers: Sequence[int] | None,
    texts: Sequence[str],
) -> go.Bar:
    return go.Bar(
        x=list(lengths),
        y=list(rows),
        base=list(starts),
        orientation="h",
        width=0.42,
        offset=offset,
        name=name,
        marker={"color": colour, "line": {"width": 0.5, "color": "rgba(255,255,255,0.6)"}},
        selected={"marker": {"opacity": 1.0}},
        unselected={"marker": {"opacity": 1.0}},
        customdata=numbers,
        text=[f"{length:+.3f}" for length in lengths],
        textposition="none",
        hovertext=list(texts),
        hovertemplate="%{hovertext}<br><b>%{text}</b><extra></extra>",
    )


def _name_largest(fig: Figure, heads: np.ndarray, mlps: np.ndarray) -> None:
    """Write the names of the ten largest parts at the end of their rows."""
    table = np.concatenate([np.nan_to_num(heads), mlps[:, None]], 1)
    largest = np.argsort(-np.abs(table), axis=None)[:NAMED]
    for layer in sorted({int(n) // table.shape[1] for n in largest}):
        mine = [int(n) % table.shape[1] for n in largest if int(n) // table.shape[1] == layer]
        words = [f"{layer}.{n}" if n < heads.shape[1] else _("MLP {layer}").format(layer=layer) for n in mine]
        row = table[layer]
        end = max(row[:-1][row[:-1] > 0].sum(), row[-1], 0.0)
        fig.add_annotation(
            x=end, y=layer, text=", ".join(words), showarrow=False, xanchor="left", xshift=4, font={"size": 11, "family": FONT}
        )


def lens(ranks: np.ndarray, shares: np.ndarray, names: Sequence[str], likeliest: Sequence[str], below: int) -> Figure:
    """The place of each token asked about among all tokens if the model ended at the input of a layer, 1 at the right.

    `ranks` and `shares`, its probability there, are (layers + 1, tokens); `likeliest` is the token of place 1;
    `below` rows stand under the layers in the picture beside it.
    """
    layers = len(ranks) - 1
    fig = go.Figure()
    looks: list[dict[str, Any]] = [{"color": PRIMARY[1], "width": 3}, {"color": THEORY, "width": 2, "dash": "dot"}]
    y = [n - 0.5 for n in range(layers + 1)]
    for column, (name, look) in enumerate(zip(names, looks, strict=False)):
        fig.add_trace(
            go.Scatter(
                x=ranks[:, column].tolist(),
                y=y,
                mode="lines+markers",
                marker={"size": 4},
                line=look,
                name=name,
                text=[f"{share:.2%}" for share in shares[:, column]],
                hovertemplate=_("{token}: place {place}, {share}").format(token=name, place="%{x:,}", share="%{text}")
                + "<extra></extra>",
            )
        )
    fig.add_trace(
        go.Scatter(
            x=[0.7] * (layers + 1),
            y=y,
            mode="text",
            text=[label(each, 12) for each in likeliest],
            textposition="middle right",
            textfont={"size": 11},
            hoverinfo="skip",
            showlegend=False,
        )
    )
    worst = float(np.log10(max(10, ranks.max())))
    fig.update_yaxes(showticklabels=False, range=_range(layers, below), showgrid=False, zeroline=False)
    fig.update_xaxes(
        type="log",
        range=[worst + 0.1, -0.4 * worst],
        tickvals=[1, 10, 100, 1000, 10_000, 100_000],
        ticktext=["1", "10", "100", "1,000", "10,000", "100,000"],
        title_text=_("place among all tokens"),
    )
    fig.update_layout(dragmode=False, showlegend=True)
    layout(fig, height=_height(layers, below))
    return fig.update_layout(margin_t=34)


def _range(layers: int, below: int) -> list[float]:
    return [-1.7 - below, layers + 0.1]


def sources(tokens: Sequence[str], values: np.ndarray, unit: str) -> Figure:
    """What a head read from each token, in the order of the sentence: a bar each, to the right what it adds."""
    rows = list(range(len(tokens)))
    fig = go.Figure(
        go.Bar(
            x=values.tolist(),
            y=rows,
            orientation="h",
            marker_color=HEADS,
            hovertext=list(tokens),
            hovertemplate="%{hovertext}: %{x:+.3f}<extra></extra>",
        )
    )
    fig.update_yaxes(autorange="reversed", tickvals=rows, ticktext=[label(each, 18) for each in tokens], showgrid=False)
    fig.update_xaxes(title_text=unit)
    return layout(fig, height=int(np.clip(80 + 22 * len(rows), 160, 460)))
