"""Figures of the building page's lessons: before and after an edit, normalisers, mixing matrices, blur."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from attnviz.figures.heatmap import label, masked_legend, matrix
from attnviz.figures.theme import SCALED, SERIES, THEORY, Figure, layout
from attnviz.figures.title_lines import above
from attnviz.words import _


def side_by_side(
    parts: Sequence[tuple[str, np.ndarray]],
    rows: Sequence[str],
    cols: Sequence[str],
    title: str | None = None,
    repeat_rows: bool = True,
) -> Figure:
    """Matrices of weights beside each other on one scale from 0 to 1; `parts` are (title, weights (Q, K)).

    `repeat_rows=False` labels the rows of the first only, which leaves more room for the numbers.
    """
    fig = make_subplots(
        1,
        len(parts),
        subplot_titles=[name for name, _values in parts] if len(parts) > 1 else None,
        horizontal_spacing=0.2 if repeat_rows else 0.04,
    )
    for i, (_name, values) in enumerate(parts, start=1):
        drawn = matrix(values, rows, cols, numbers=len(rows) <= 5)
        for trace in drawn.data:
            trace.update(showscale=i == len(parts) and trace.showscale is not False)
            fig.add_trace(trace, 1, i)
        fig.update_xaxes(**_ticks(cols), showgrid=False, zeroline=False, constrain="domain", row=1, col=i)
        fig.update_yaxes(
            **_ticks(rows),
            showgrid=False,
            zeroline=False,
            autorange="reversed",
            scaleanchor=f"x{i if i > 1 else ''}",
            constrain="domain",
            showticklabels=repeat_rows or i == 1,
            row=1,
            col=i,
        )
    fig = layout(fig, title, height=int(np.clip(120 + 30 * len(rows), 240, 460)))
    if any(not np.isfinite(values).all() for _name, values in parts):
        masked_legend(fig, _("masked"))
    return fig.update_layout(margin={"t": above(fig, 56 if title else 36)})


def sums(rows: np.ndarray, cols: np.ndarray, queries: Sequence[str], keys: Sequence[str]) -> Figure:
    """The sums of the rows of a weight matrix beside the sums of its columns, with a line at 1."""
    names = (_("row sums: given"), _("column sums: received"))
    fig = make_subplots(1, 2, subplot_titles=names, horizontal_spacing=0.12, shared_xaxes="all")
    top = 1.35 * max(1.0, float(rows.max(initial=0)), float(cols.max(initial=0)))
    for number, (values, words) in enumerate(((rows, queries), (cols, keys)), start=1):
        bars = go.Bar(
            x=values,
            y=list(range(len(words))),
            orientation="h",
            marker={"color": SCALED if number == 1 else SERIES[3], "line_width": 0},
            text=[f"{value:.2f}" for value in values] if len(words) <= 16 else None,
            textposition="outside",
            cliponaxis=False,
            showlegend=False,
            hovertemplate="%{y}: %{x:.4f}<extra></extra>",
        )
        fig.add_trace(bars, 1, number)
        fig.add_vline(x=1, line={"color": THEORY, "dash": "dash", "width": 1}, layer="below", row=1, col=number)
        fig.update_yaxes(**_ticks(words), autorange="reversed", showgrid=False, row=1, col=number)
        fig.update_xaxes(range=[0, top], row=1, col=number)
    fig = layout(fig, height=int(np.clip(100 + 24 * max(len(queries), len(keys)), 160, 430)))
    return fig.update_layout(margin={"t": above(fig, 40)})


def _ticks(words: Sequence[str]) -> dict[str, object]:
    return {
        "tickmode": "array",
        "tickvals": list(range(len(words))),
        "ticktext": [label(w, 8) for w in words],
        "ticks": "",
    }


def normaliser_bars(weights: Mapping[str, np.ndarray], keys: Sequence[str]) -> Figure:
    """A panel of bars for each way of making weights from the same scores: title -> weights (K,)."""
    rows = -(-len(weights) // 2)  # two beside each other: on a phone three have no room for their numbers
    fig = make_subplots(rows, 2, subplot_titles=list(weights), horizontal_spacing=0.1, vertical_spacing=0.16)
    for i, (name, values) in enumerate(weights.items(), start=1):
        bars = go.Bar(
            x=list(range(len(keys))),
            y=values,
            marker={"color": SERIES[(i - 1) % len(SERIES)]},
            showlegend=False,
            hovertemplate="%{x}: %{y:.3f}<extra>" + name + "</extra>",
            text=[f"{v:.2f}" for v in values],
            textposition="outside",
            cliponaxis=False,
        )
        at = {"row": 1 + (i - 1) // 2, "col": 1 + (i - 1) % 2}
        fig.add_trace(bars, **at)
        low, high = min(0.0, float(values.min())), max(1.0, float(values.max()))
        room = 0.18 * (high - low)
        fig.update_yaxes(range=[low - (room if low < 0 else 0), high + room], showgrid=False, zeroline=True, **at)
        fig.update_xaxes(**_ticks(keys), showgrid=False, **at)
    fig = layout(fig, height=40 + 160 * rows)
    return fig.update_layout(margin={"t": above(fig, 36)}, bargap=0.25)


def growth(copies: Sequence[int], lines: Mapping[str, np.ndarray]) -> Figure:
    """Length of the output as the same keys are repeated; both axes logarithmic."""
    fig = go.Figure()
    for i, (name, values) in enumerate(lines.items()):
        fig.add_trace(
            go.Scatter(
                x=list(copies),
                y=np.where(values > 0, values, np.nan),
                name=name,
                mode="lines+markers",
                line={
                    "color": SERIES[i % len(SERIES)],
                    "width": 3 if i == 0 else 2,
                    "dash": "solid" if i == 0 else "dot",
                },
            )
        )
    fig.update_xaxes(type="log", tickvals=list(copies), title=_("times each key is repeated"), showgrid=False)
    fig.update_yaxes(type="log", title=_("length of the output"), dtick=1)
    return layout(fig, height=320)


def parameter_curves(lengths: Sequence[int], attention: Sequence[int], mixing: Sequence[int], here: int) -> Figure:
    """How many numbers attention and a mixing matrix learn, by length of the sentence; `here` marks this sentence's."""
    fig = go.Figure()
    for name, values, colour in ((_("attention"), attention, SCALED), (_("mixing matrix"), mixing, SERIES[1])):
        fig.add_trace(
            go.Scatter(x=list(lengths), y=list(values), name=name, mode="lines+markers", line={"color": colour})
        )
    fig.add_vline(here, line={"color": THEORY, "dash": "dot"})
    fig.add_annotation(
        x=np.log10(here), y=1, yref="paper", text=_("your sentence"), showarrow=False, xanchor="left", xshift=4
    )
    fig.update_xaxes(type="log", dtick=1, title=_("words in the sentence"), showgrid=False)
    fig.update_yaxes(type="log", dtick=1, title=_("numbers to learn"))
    return layout(fig, height=320)


def blur_by_share(shares: np.ndarray, blur: np.ndarray, names: Sequence[str], share: float) -> Figure:
    """Signal that the single head loses of each word, `blur` (shares, H) stacked, over how it divides its weight."""
    fig = go.Figure()
    for h, name in enumerate(names):
        fig.add_trace(
            go.Scatter(
                x=shares,
                y=blur[:, h] / len(names),
                name=name,
                stackgroup="missed",
                mode="lines",
                line={"color": SERIES[h], "width": 1},
                hovertemplate="%{y:.0%}<extra>" + name + "</extra>",
            )
        )
    fig.add_vline(share, line={"color": THEORY, "dash": "dot"})
    fig.update_xaxes(tickformat=".0%", title=_("single head's weight on the first"), showgrid=False)
    fig.update_yaxes(tickformat=".0%", range=[0, 1], title=_("signal lost"))
    return layout(fig, height=320)
