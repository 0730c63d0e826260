"""Figures made ready for files: a fixed look, nothing cut off, nothing loaded from the network."""

from __future__ import annotations

import html
import math
import unicodedata
from pathlib import Path
from typing import Literal

import plotly
import plotly.graph_objects as go

from attnviz.figures.theme import FONT, Figure

Background = Literal["white", "transparent", "dark"]

PLOTLY_JS = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"

WIDTH = 900  # pixels, for a figure that has no width of its own

_PAPER: dict[Background, str] = {"white": "#FFFFFF", "transparent": "rgba(0,0,0,0)", "dark": "#14161C"}


def prepared(
    fig: Figure,
    *,
    background: Background = "white",
    title: str | None = None,
    caption: str | None = None,
    colorbar: bool = True,
    width: int | None = None,
    height: int | None = None,
) -> Figure:
    """A copy of `fig` with its own background, ink and size, ready for SVG, PNG or HTML.

    Title and caption are broken into as many lines as they need: nothing runs out of the picture.
    """
    out = go.Figure(fig)
    width = width or int(out.layout.width or WIDTH)
    ink, grid = ("#E8EAED", "#3A3F4A") if background == "dark" else ("#1F2328", "#D8DCE2")
    height = height or int(out.layout.height or 500)
    heading = wrapped(title or "", (width - 48) / 10.8)
    lines = wrapped(caption or "", (width - 48) / 8.2)
    left = _room_at_left(out)
    above = 24 + (16 + 24 * len(heading) if heading else 0) + _room_on_top(out)
    out.update_layout(
        template="plotly_dark" if background == "dark" else "plotly_white",
        paper_bgcolor=_PAPER[background],
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": FONT, "size": 14, "color": ink},
        width=width,
        height=height + 19 * len(lines) + above,
        title={
            "text": _markup(heading),
            "font": {"size": 18, "color": ink},
            "yref": "container",
            "y": 1,
            "yanchor": "top",
            "pad": {"l": 24, "t": 14 + 6 * len(heading)},
        },
        margin={"l": left, "r": 24, "t": above, "b": 36 + 19 * len(lines)},
    )
    out.update_xaxes(automargin=True, color=ink, gridcolor=grid)
    out.update_yaxes(automargin=True, color=ink, gridcolor=grid)
    if not colorbar:
        out.update_traces(showscale=False, selector={"type": "heatmap"})
        out.update_coloraxes(showscale=False)
    if lines:
        out.add_annotation(
            text=_markup(lines),
            xref="paper",
            yref="paper",
            x=0,
            y=0,
            xshift=24 - left,
            yshift=-30,
            xanchor="left",
            yanchor="top",
            align="left",
            showarrow=False,
            font={"size": 12, "color": ink},
        )
    return out


def _room_at_left(fig: Figure) -> int:
    """Pixels that the longest label left of the plot takes, its axis title included: a caption begins left of both."""
    widths = [60.0]
    for axis in fig.select_yaxes():
        size = axis.tickfont.size or 14
        widths += [wide(text) * size * 0.62 + 44 for text in axis.ticktext or ()]
    return int(max(widths))


def _room_on_top(fig: Figure) -> int:
    """Pixels that labels above the plot take; they are tilted where they would run into each other.

    Plotly keeps room for the title or for such labels, whichever is larger, and so prints one over the other.
    """
    axis = fig.layout.xaxis
    if axis.side != "top":
        return 0
    size = axis.tickfont.size or 14
    widest = max((wide(text) for text in axis.ticktext or ()), default=2) * size * 0.62
    slot = (fig.layout.width or WIDTH) * 0.6 / max(1, len(axis.ticktext or ()))
    tilt = 0 if widest < slot else 60 if slot > size * 1.5 else 90
    fig.update_xaxes(tickangle=-tilt)
    return int(max(size, widest * math.sin(math.radians(tilt))) + (36 if axis.title.text else 12))


def wrapped(text: str, columns: float) -> list[str]:
    """`text` in lines of at most `columns`; Chinese letters and emoji take two each."""
    lines: list[str] = []
    line, taken = "", 0.0
    for word in text.split():
        for part in _broken(word, columns):
            needed = wide(part)
            if line and taken + 1 + needed > columns:
                lines.append(line)
                line, taken = "", 0.0
            line, taken = (f"{line} {part}", taken + 1 + needed) if line else (part, needed)
    return [*lines, line] if line else lines


def wide(text: str) -> int:
    """How many columns `text` takes: East Asian letters and emoji two, combining marks none."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _broken(word: str, columns: float) -> list[str]:
    """A word in parts, each at most `columns` columns wide."""
    parts, part, taken = [], "", 0
    for letter in word:
        if part and taken + wide(letter) > columns:
            parts.append(part)
            part, taken = "", 0
        part, taken = part + letter, taken + wide(letter)
    return [*parts, part]


def _markup(lines: list[str]) -> str:
    return "<br>".join(html.escape(line, quote=False) for line in lines)


def standalone_html(fig: Figure, title: str) -> str:
    """One file that stays interactive with no network: plotly.js is inside it."""
    page: str = fig.to_html(include_plotlyjs=True, full_html=True, config={"displaylogo": False, "responsive": True})
    return page.replace("<head>", f"<head><title>{html.escape(title)}</title>", 1)
