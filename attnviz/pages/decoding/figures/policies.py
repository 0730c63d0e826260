"""Cache policies: how far predictions move over the budget, and which positions are kept."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from attnviz.base.words import _
from attnviz.figures.heatmap import label
from attnviz.figures.theme import MASKED, SERIES, THEORY, Figure, layout

FLOOR = 1e-6  #: drawn in place of 0 on the log axis
LABELS = 48  #: of rows
CELLS_APART = 48  #: columns whose cells are told apart by a gap; of more, a phone would show the gaps alone
LABELS_ACROSS = 24  #: of columns, so that a phone has room for them


def over_budget(lines: Mapping[str, tuple[Sequence[int], Sequence[float]]], total: int, here: int) -> Figure:
    """Mean KL (nats) over the budget, one line for each policy; the top axis is the share of bytes that is kept."""
    fig = go.Figure()
    for number, (name, (budgets, values)) in enumerate(lines.items()):
        fig.add_trace(
            go.Scatter(
                x=list(budgets),
                y=[max(value, FLOOR) for value in values],
                name=name,
                mode="lines+markers",
                line={"color": SERIES[number], "width": 2.5},
                marker={"size": 8},
                customdata=[budget / total for budget in budgets],
                hovertemplate="%{x} (%{customdata:.0%}): %{y:.3g}<extra>" + html.escape(name) + "</extra>",
            )
        )
    budgets = sorted({budget for held, _values in lines.values() for budget in held})
    fig.add_vline(x=here, line={"color": THEORY, "width": 1, "dash": "dot"})
    fig.update_xaxes(
        type="log",
        tickvals=budgets,
        ticktext=[f"{budget}<br>{budget / total:.0%}" for budget in budgets],
        title={"text": _("positions kept, and the share of bytes"), "font": {"size": 12}},
    )
    fig.update_yaxes(type="log", title={"text": _("KL, nats"), "font": {"size": 12}}, dtick=1, exponentformat="power")
    fig.update_layout(showlegend=True)
    return layout(fig, height=330)


def kept_map(kept: np.ndarray, rows: Sequence[str], cols: Sequence[str], colour: str) -> Figure:
    """Which of the columns each row may see: `kept` (rows, cols); what comes later is left blank."""
    first = len(cols) - len(rows)
    later = np.arange(len(cols))[None] > first + np.arange(len(rows))[:, None]
    codes = np.where(later, np.nan, kept.astype(np.float32))
    gap = 1 if len(cols) <= CELLS_APART else 0
    fig = go.Figure(
        go.Heatmap(
            z=codes,
            colorscale=[(0, MASKED), (0.5, MASKED), (0.5, colour), (1, colour)],
            zmin=0,
            zmax=1,
            showscale=False,
            hoverongaps=False,
            xgap=gap,
            ygap=gap,
            customdata=np.where(kept, _("kept"), _("evicted")),
            hovertemplate="%{y} → %{x}<br>%{customdata}<extra></extra>",
        )
    )
    for update, tokens, most, more in (
        (fig.update_xaxes, cols, LABELS_ACROSS, {"side": "top", "tickangle": -60}),
        (fig.update_yaxes, rows, LABELS, {"autorange": "reversed"}),
    ):
        step = max(1, -(-len(tokens) // most))
        update(
            tickmode="array",
            tickvals=list(range(len(tokens))),
            ticktext=[label(token) if n % step == 0 else "" for n, token in enumerate(tokens)],
            tickfont={"size": 10},
            showgrid=False,
            zeroline=False,
            ticks="",
            **more,
        )
    return layout(fig, height=int(np.clip(120 + 9 * len(rows), 260, 640)))
