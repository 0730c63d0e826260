"""Training runs as curves over a logarithmic axis of steps."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from attnviz.base.words import _
from attnviz.figures.theme import MASKED, PRIMARY, Figure, layout

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
