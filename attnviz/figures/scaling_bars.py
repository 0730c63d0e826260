"""Rows of weights as bars on one scale: the picture that the canvas animates, as a figure to save."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import plotly.graph_objects as go

from attnviz.figures.theme import THEORY, Figure, layout
from attnviz.figures.title_lines import above, part_title
from attnviz.words import _

GAP = 0.04  #: between two rows of bars, as a share of the width
NUMBERED = 12  #: bars that have room for their numbers, so that one near 0 is seen to be there


def rows_of_bars(rows: Sequence[tuple[str, str, np.ndarray]]) -> Figure:
    """Each of `rows` (name, colour, weights (n,)) beside the others, from 0 to 1; dashed: even weights.

    Made as plain data and checked by Plotly once: it is redrawn whenever a slider is released.
    """
    look = copy.deepcopy(_shared_look()) | {"annotations": [], "shapes": [_even(len(rows[0][2]))]}
    look["yaxis"] |= {"range": [0, 1.02]}
    traces = []
    width = (1 - GAP * (len(rows) - 1)) / len(rows)
    for i, (name, colour, weights) in enumerate(rows):
        axis, left = str(i + 1) if i else "", i * (width + GAP)
        look[f"xaxis{axis}"] = {"domain": [left, left + width], "title": {"text": _("key")}, "automargin": True}
        title = {"text": part_title(name, len(rows), 14), "x": left + width / 2, "xref": "paper", "showarrow": False}
        look["annotations"].append(title | {"y": 1, "yref": "paper", "yanchor": "bottom", "font": {"size": 14}})
        keys = np.arange(1, len(weights) + 1)
        marker = {"color": colour, "line": {"width": 0}}
        trace: dict[str, Any] = {
            "type": "bar",
            "x": keys,
            "y": weights,
            "xaxis": f"x{axis}",
            "yaxis": "y",
            "marker": marker,
        }
        if len(weights) * len(rows) <= NUMBERED:
            trace |= {"text": [f"{weight:.3f}" for weight in weights], "textposition": "outside", "cliponaxis": False}
            trace["width"] = min(0.8, 0.1 * len(weights))
            look[f"xaxis{axis}"]["dtick"] = 1
            look["yaxis"]["range"] = [0, 1.12]
        traces.append(trace | {"name": name})
    fig = go.Figure(traces, look)
    return fig.update_layout(margin={"t": above(fig, 36)})


def _even(n: int) -> dict[str, Any]:
    line = {"color": THEORY, "dash": "dash", "width": 1}
    return {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": 1 / max(1, n), "y1": 1 / max(1, n), "line": line}


@cache
def _shared_look() -> dict[str, Any]:
    fig = layout(go.Figure(), height=280)
    fig.update_layout(showlegend=False, margin={"t": 36})
    look: dict[str, Any] = fig.to_plotly_json()["layout"]
    look.pop("template", None)  # the default one, which costs more to check than all the rest
    return {"yaxis": {}} | look
