"""A chart as a room reads it from the last row."""

from __future__ import annotations

import plotly.graph_objects as go

from attnviz.figures.theme import Figure

LARGER = 1.4


def for_a_room(fig: Figure) -> Figure:
    """The same chart with larger letters, and without a height of its own: its place on the page gives one."""
    big = go.Figure(fig)
    size = big.layout.font.size or 12
    big.update_layout(height=None, autosize=True, font_size=round(LARGER * size))
    big.update_layout(legend_font_size=_larger(big.layout.legend.font.size, size))
    for axis in (*big.select_xaxes(), *big.select_yaxes()):
        axis.update(
            tickfont_size=_larger(axis.tickfont.size, size), title_font_size=_larger(axis.title.font.size, size)
        )
    for note in big.layout.annotations:
        note.update(font_size=_larger(note.font.size, size))
    return big


def _larger(size: float | None, usual: float) -> int:
    return round(LARGER * (size or usual))
