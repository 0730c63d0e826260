"""Training runs as curves over a logarithmic axis of steps."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attnviz.base.words import _
from attnviz.figures.chart import Panel, Series, axis, line, panels
from attnviz.figures.theme import ALTERNATIVE, MASKED, PRIMARY, SCALED, Figure

FIRST = 1  #: step 0 has no logarithm: it is drawn at step 1
EARLIEST = 20  #: before it no run learns anything


@dataclass(frozen=True, eq=False)
class RunCurve:
    """The curves of one run: its loss, and the best induction score of its heads.

    Arrays of steps and values have one entry a point; the two curves have steps of their own.
    """

    name: str
    loss_steps: np.ndarray
    losses: np.ndarray
    measured_at: np.ndarray
    induction: np.ndarray
    faint: bool = False


def draw_runs(runs: Sequence[RunCurve], height: int = 470, earliest: int = EARLIEST) -> Figure:
    """Draw the loss above and the best induction score below; faint runs are background."""
    colours = iter((PRIMARY[1], SCALED, ALTERNATIVE))
    colours_by_run = [MASKED if run.faint else next(colours) for run in runs]
    last = max(float(run.measured_at[-1]) for run in runs)
    steps = {
        step: f"{step:,}"
        for step in (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)
        if earliest <= step <= last
    }
    x = axis(labels=steps, type="log", range=np.log10([earliest, max(last, 2 * earliest)]).tolist())
    losses = [_line(run, ink, run.loss_steps, run.losses, True) for run, ink in zip(runs, colours_by_run, strict=True)]
    scores = [
        _line(run, ink, run.measured_at, run.induction, False) for run, ink in zip(runs, colours_by_run, strict=True)
    ]
    return panels(
        [
            Panel(losses, x, axis(_("loss, nats"), rangemode="tozero")),
            Panel(scores, x | axis(_("training steps")), axis(_("best induction score"), range=[0, 1.02])),
        ],
        1,
        spacing={"shared_xaxes": True, "vertical_spacing": 0.06},
        height=height,
    ).update_layout(margin_t=64)


def _line(run: RunCurve, colour: str, x: np.ndarray, y: np.ndarray, named: bool) -> Series:
    hover = _("{name}, step {step}: {value}").format(name=run.name, step="%{x:.0f}", value="%{y:.3f}")
    options = {"legendgroup": run.name, "showlegend": named, "hovertemplate": hover + "<extra></extra>"}
    return line(np.maximum(x, FIRST), y, run.name, colour, width=1.2 if run.faint else 2.4) | options
