"""Training runs as curves over a logarithmic axis of steps, and all heads of one step as heat maps."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from attnviz.base.words import _
from attnviz.figures.heatmap import as_typed, label
from attnviz.figures.theme import HEADS, MASKED, PRIMARY, THEORY, WEIGHTS, Figure, layout

FIRST = 1  #: a logarithm has no place for step 0: what is measured there stands at the first step
EARLIEST = 20  #: before it no run learns anything


@dataclass(frozen=True, eq=False)
class RunCurve:
    """One run: its loss at some steps, and the best induction score of its heads at others."""

    name: str
    loss_at: np.ndarray
    losses: np.ndarray
    at: np.ndarray
    induction: np.ndarray
    faint: bool = False


def life(
    curve: RunCurve,
    scores: Sequence[tuple[str, np.ndarray]],
    step: int,
    heads: Sequence[tuple[str, np.ndarray]],
    tokens: Sequence[str],
    columns: int,
    title: str,
) -> Figure:
    """Loss and scores over steps on the left, the heads' weights (T, T) at one step on the right, `columns` a row.

    `scores` are titles with curves (C, heads).
    """
    tall = 6  #: rows of the grid: the curves take a third each, heads as much as there are layers
    each = tall * columns // len(heads)
    # with markup a title stays on one line, which a file has room for
    above = (_("loss, nats"), *(f"<span>{as_typed(name)}</span>" for name, _values in scores))
    named = {(2 * i, 0): name for i, name in enumerate(above)}
    named |= {(i // columns * each, 1 + i % columns): name for i, (name, _weights) in enumerate(heads)}
    places = [(row, col) for row in range(tall) for col in range(columns + 1)]
    specs: list[list[Any]] = [[None] * (columns + 1) for _row in range(tall)]
    for row, col in named:
        specs[row][col] = {"rowspan": each if col else 2}
    fig = make_subplots(
        tall,
        columns + 1,
        specs=specs,
        subplot_titles=[named[place] for place in places if place in named],
        column_widths=[2.2] + [1.0] * columns,
        vertical_spacing=0.055,
        horizontal_spacing=0.045,
    )
    fig.add_trace(_line(curve.loss_at, curve.losses, THEORY, ""), row=1, col=1)
    for row, (_name, values) in zip((3, 5), scores, strict=True):
        for head in range(values.shape[1]):
            line = _line(curve.at, values[:, head], HEADS[head % len(HEADS)][0], heads[head][0])
            fig.add_trace(line, row=row, col=1)
        fig.update_yaxes(range=[0, 1.02], row=row, col=1)
    for row in (1, 3, 5):
        fig.add_vline(x=max(step, FIRST), line={"color": PRIMARY[1], "width": 2}, row=row, col=1)
        fig.update_xaxes(type="log", dtick=1, showticklabels=row == 5, row=row, col=1)
    fig.update_xaxes(title_text=_("training steps"), row=5, col=1)
    ticks = {"tickvals": list(range(len(tokens))), "ticktext": [label(token, 9) for token in tokens]}
    for number, (name, weights) in enumerate(heads):
        place = {"row": 1 + number // columns * each, "col": 2 + number % columns}
        shown = np.where(np.triu(np.ones(weights.shape, bool), 1) & (weights == 0), np.nan, weights)
        heat = go.Heatmap(z=shown, zmin=0, zmax=1, colorscale=WEIGHTS, showscale=number == 0, name=name)
        fig.add_trace(heat, **place)
        fig.update_yaxes(autorange="reversed", showticklabels=number % columns == 0, **ticks, **place)
        fig.update_xaxes(showticklabels=False, **place)
        for update in (fig.update_xaxes, fig.update_yaxes):
            update(showgrid=False, zeroline=False, **place)
    fig.update_layout(showlegend=False)
    fig.update_annotations(font={"size": 11})
    return layout(fig, as_typed(title), 600)


def compared(runs: Sequence[RunCurve], height: int = 470) -> Figure:
    """Loss above, the best induction score below; runs that are only the background are faint."""
    fig = make_subplots(2, 1, shared_xaxes=True, vertical_spacing=0.06)
    colours = iter((PRIMARY[1], "#3B8EA5", "#C9A227"))
    for run in runs:
        colour = MASKED if run.faint else next(colours)
        fig.add_trace(_line(run.loss_at, run.losses, colour, run.name, run.faint, shown=True), row=1, col=1)
        fig.add_trace(_line(run.at, run.induction, colour, run.name, run.faint), row=2, col=1)
    last = max(float(run.at[-1]) for run in runs)
    steps = [step for step in (10, 30, 100, 300, 1000, 3000, 10_000) if EARLIEST <= step <= last]
    named = {"tickvals": steps, "ticktext": [f"{step:,}" for step in steps]}
    fig.update_xaxes(type="log", range=np.log10([EARLIEST, last]).tolist(), **named)
    fig.update_xaxes(title_text=_("training steps"), row=2, col=1)
    fig.update_yaxes(title_text=_("loss, nats"), rangemode="tozero", row=1, col=1)
    fig.update_yaxes(title_text=_("best induction score"), range=[0, 1.02], row=2, col=1)
    return layout(fig, height=height).update_layout(margin_t=64)


def _line(
    x: np.ndarray, y: np.ndarray, colour: str, name: str, faint: bool = False, *, shown: bool = False
) -> go.Scatter:
    return go.Scatter(
        x=np.maximum(x, FIRST),
        y=y,
        mode="lines",
        line={"color": colour, "width": 1.2 if faint else 2.4},
        name=name,
        legendgroup=name,
        showlegend=shown,
        hovertemplate=_("{name}, step {step}: {value}").format(name=name, step="%{x:.0f}", value="%{y:.3f}")
        + "<extra></extra>",
    )
