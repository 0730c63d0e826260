"""Bytes that both ways move, by tensor."""

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from attnviz.base import units
from attnviz.base.words import _
from attnviz.figures.byte_axes import binary_ticks, titled
from attnviz.figures.theme import ALTERNATIVE, K_VERMILION, MASKED, Q_BLUE, RAW, SERIES, V_GREEN, Figure, layout

COLOURS = {
    "q": Q_BLUE,
    "k": K_VERMILION,
    "v": V_GREEN,
    "scores": RAW,
    "weights": ALTERNATIVE,
    "output": SERIES[3],
    "log_sum": MASKED,
}


def moved(ways: Sequence[str], parts: Mapping[str, Sequence[int]]) -> Figure:
    """A bar for each way, of the bytes of each tensor."""
    names = {
        "q": "q",
        "k": "k",
        "v": "v",
        "scores": _("scores"),
        "weights": _("weights"),
        "output": _("output"),
        "log_sum": _("row sums"),
    }
    bars = [
        go.Bar(
            y=list(ways),
            x=list(values),
            name=names[part],
            orientation="h",
            marker_color=COLOURS[part],
            customdata=[units.both(value) for value in values],
            hovertemplate="%{y}: %{customdata}<extra>" + names[part] + "</extra>",
        )
        for part, values in parts.items()
        if any(values)
    ]
    most = max(map(sum, zip(*parts.values(), strict=True)))
    look = {
        "barmode": "stack",
        "bargap": 0.35,
        "legend": {"traceorder": "normal"},
        "yaxis": {"autorange": "reversed", "type": "category"},
        "xaxis": {"title": titled(_("bytes between slow and fast memory")), **binary_ticks(most)},
    }
    return layout(go.Figure(bars, look), height=260)
