"""What each part of a model adds to a logit, layer over layer, and what it would say if it ended there."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from attnviz.base.rounding import Rounded
from attnviz.base.words import _
from attnviz.figures import title_lines
from attnviz.figures.heatmap import as_typed, label, labels
from attnviz.figures.theme import ALTERNATIVE, FONT, PRIMARY, SCALED, THEORY, Figure, layout

HEADS, MLPS, BELOW = SCALED, ALTERNATIVE, THEORY
NAMED = 10
ROW = 16  #: pixels of a layer: on a phone names of two layers do not touch


def _height(layers: int, below: int) -> int:
    return int(np.clip(110 + ROW * (layers + below), 360, 620))


def ladder(
    heads: np.ndarray,
    mlps: np.ndarray,
    below: Sequence[tuple[str, float]],
    chosen: tuple[int, int],
    *,
    title: str,
    unit: str,
) -> Figure:
    """Bars of every head (layers, heads) and MLP, the first layer at the bottom; below it what enters.

    In each row the heads lie end to end above, the MLP below. A head's `customdata` is its number, layer by layer. The
    largest ones carry their names.
    """
    layers, widest = heads.shape
    rows = [-1.2 - n for n in range(len(below))]
    fig = go.Figure([_bars_of_heads(heads, chosen[0] * widest + chosen[1])])
    names = [_("MLP {layer}").format(layer=layer) for layer in range(layers)]
    fig.add_trace(_bars(range(layers), mlps.tolist(), names, -0.44).update(name=_("MLPs"), marker_color=MLPS))
    under = _bars(rows, [value for _name, value in below], [name for name, _value in below], -0.21)
    fig.add_trace(under.update(marker_color=BELOW, showlegend=False))
    _name_largest(fig, heads, mlps)
    ticks = list(range(0, layers, 5 if layers > 12 else 1))
    fig.update_yaxes(
        tickvals=[*rows, *ticks],
        ticktext=[*(name for name, _value in below), *map(str, ticks)],
        range=_range(layers, len(below)),
        title={"text": _("layer"), "standoff": 4},
        showgrid=False,
        zeroline=False,
    )
    fig.update_xaxes(title_text=as_typed(unit))
    fig.update_layout(barmode="overlay", dragmode=False, bargap=0, showlegend=True)
    return _with_legend(fig, title, _height(layers, len(below)))


def _bars_of_heads(heads: np.ndarray, chosen: int) -> go.Bar:
    """All heads, end to end from nought in their layer's row: to the right those that add, to the left the others."""
    rows, lengths, starts, numbers = [], [], [], []
    for layer, row in enumerate(heads):
        ends = {True: 0.0, False: 0.0}
        for head in np.argsort(-np.abs(np.nan_to_num(row))):
            value = float(row[head])
            if not np.isnan(value):
                rows.append(layer)
                lengths.append(value)
                starts.append(ends[value > 0])
                ends[value > 0] += value
                numbers.append(layer * heads.shape[1] + int(head))
    names = [_("head {layer}.{head}").format(layer=n // heads.shape[1], head=n % heads.shape[1]) for n in numbers]
    colours = [PRIMARY[1] if n == chosen else HEADS for n in numbers]
    line = {"width": 0.5, "color": "rgba(255,255,255,0.6)"}
    return _bars(rows, lengths, names, 0.02).update(
        base=np.array(starts), customdata=np.array(numbers), name=_("heads"), marker={"color": colours, "line": line}
    )


def _bars(rows: Sequence[float], lengths: Sequence[float], names: Sequence[str], offset: float) -> go.Bar:
    return go.Bar(
        x=np.array(lengths, float),  # arrays are sent as bytes, which is a fifth of the work of hundreds of decimals
        y=np.array(rows, float),
        orientation="h",
        width=0.42,
        offset=offset,
        selected={"marker": {"opacity": 1.0}},
        unselected={"marker": {"opacity": 1.0}},
        text=[f"{Rounded(length):+.3f}" for length in lengths],
        textposition="none",
        hovertext=list(names),
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
        look = {"showarrow": False, "xanchor": "left", "xshift": 4, "font": {"size": 11, "family": FONT}}
        fig.add_annotation(x=end, y=layer, text=", ".join(words), **look)


def lens(
    ranks: np.ndarray, shares: np.ndarray, names: Sequence[str], likeliest: Sequence[str], below: int, *, title: str
) -> Figure:
    """The place of each token asked about among all tokens, were the input of a layer the end; 1 at the right.

    `ranks` and `shares`, its probability there, are (layers + 1, tokens); `likeliest` is the token of place 1;
    `below` rows stand under the layers in the picture beside it.
    """
    layers = len(ranks) - 1
    fig = go.Figure()
    looks: list[dict[str, Any]] = [{"color": PRIMARY[1], "width": 3}, {"color": THEORY, "width": 2, "dash": "dot"}]
    y = [n - 0.5 for n in range(layers + 1)]
    for column, (name, look) in enumerate(zip(map(as_typed, names), looks, strict=False)):
        fig.add_trace(
            go.Scatter(
                x=ranks[:, column].tolist(),
                y=y,
                mode="lines+markers",
                marker={"size": 4},
                line=look,
                name=name,
                text=[f"{Rounded(share):.2%}" for share in shares[:, column]],
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
    return _with_legend(fig, title, _height(layers, below))


def _with_legend(fig: Figure, title: str, height: int) -> Figure:
    layout(fig, as_typed(title), height)
    return fig.update_layout(legend=title_lines.below(), margin_t=title_lines.above(fig, 34))


def _range(layers: int, below: int) -> list[float]:
    return [-1.7 - below, layers + 0.1]


def sources(tokens: Sequence[str], values: np.ndarray, unit: str) -> Figure:
    """What a head read from each token, in the order of the sentence: a bar each, to the right what it adds."""
    rows, high = list(range(len(tokens))), int(np.clip(80 + 22 * len(tokens), 160, 460))
    texts = labels(tokens, (high - 80) // 15, 18)
    fig = go.Figure(
        go.Bar(
            x=values.tolist(),
            y=rows,
            orientation="h",
            marker_color=HEADS,
            hovertext=list(map(as_typed, tokens)),
            hovertemplate="%{hovertext}: %{x:+.3f}<extra></extra>",
        )
    )
    fig.update_yaxes(autorange="reversed", tickvals=rows, ticktext=texts, showgrid=False)
    fig.update_xaxes(title_text=as_typed(unit))
    return layout(fig, height=high)
