"""Training runs side by side: four measures by step, a line for the mean of the seeds and a band from least to most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from plotly.subplots import make_subplots

from attnviz.figures.theme import THEORY, Figure, layout, with_alpha
from attnviz.figures.title_lines import above
from attnviz.words import _


def measures(
    runs: Sequence[tuple[str, str, Mapping[str, np.ndarray]]], steps: int, chance: float, even: float
) -> Figure:
    """`runs`: (name, colour, measure -> (seeds, steps so far)); measures loss, accuracy, entropy, gradient.

    The axis reaches to `steps` from the start. `chance`: accuracy of guessing; `even`: entropy of even weights.
    """
    titles = {
        "loss": _("loss, nats"),
        "accuracy": _("labels right"),
        "entropy": _("entropy, nats"),
        "gradient": _("gradient norm"),
    }
    fig = make_subplots(
        2, 2, subplot_titles=list(titles.values()), horizontal_spacing=0.1, vertical_spacing=0.16, shared_xaxes=False
    )
    for place, measure in enumerate(titles):
        row, col = place // 2 + 1, place % 2 + 1
        for name, colour, run in runs:
            _add(fig, name, colour, run[measure], row, col, legend=place == 0)
        fig.update_xaxes(range=[0, steps], row=row, col=col)
    fig.update_yaxes(rangemode="tozero")
    fig.update_yaxes(range=[0, 1.04], tickformat=".0%", row=1, col=2)
    fig.update_yaxes(range=[0, even * 1.08], row=2, col=1)
    fig.update_yaxes(type="log", rangemode="normal", exponentformat="power", row=2, col=2)
    fig.update_xaxes(title_text=_("step"), row=2)
    dash = {"color": THEORY, "width": 1.2, "dash": "dash"}
    fig.add_hline(y=chance, line=dash, row=1, col=2)
    fig.add_hline(y=even, line=dash, row=2, col=1)
    fig.update_annotations(font_size=13)
    fig = layout(fig, height=520)
    return fig.update_layout(legend={"y": 1.08}, margin={"t": above(fig, 56)})


def _add(fig: Figure, name: str, colour: str, values: np.ndarray, row: int, col: int, legend: bool) -> None:
    x = np.arange(1, values.shape[1] + 1)
    if len(x) > 150:  # a point for every other step looks the same
        x, values = x[::2], values[:, ::2]
    low, high = values.min(0), values.max(0)
    if len(values) > 1:
        fig.add_scatter(
            x=np.concatenate([x, x[::-1]]),
            y=np.concatenate([high, low[::-1]]),
            fill="toself",
            fillcolor=with_alpha(colour, 0.18),
            line={"width": 0},
            hoverinfo="skip",
            showlegend=False,
            row=row,
            col=col,
        )
    fig.add_scatter(
        x=x,
        y=values.mean(0),
        mode="lines",
        line={"color": colour, "width": 2},
        name=name,
        legendgroup=name,
        showlegend=legend,
        hovertemplate=_("step %{x}: %{y:.4g}") + f"<extra>{name}</extra>",
        row=row,
        col=col,
    )
