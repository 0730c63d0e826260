"""Plotly charts for files: fixed size and style, nothing cut off, nothing loaded from the network."""

import html
import math
from pathlib import Path
from typing import get_args

import numpy as np
import plotly.graph_objects as go
from plotly.io.json import to_json_plotly

from attnviz.figures.theme import FONT, INK, PAPER, QUIET, Background, Figure, readable_colour
from attnviz.figures.title_lines import margin_above, text_columns

#: plotly.js with the traces that charts here have: lines, bars and heatmaps
PLOTLY_JS = Path(__file__).parent / "bundle" / "plotly-cartesian.min.js"

WIDTH = 900  # pixels, for a figure that has no width of its own


def prepare_figure(fig: Figure, background: Background = "white", colorbar: bool = True) -> Figure:
    """Copy of `fig` with background, foreground colour and size set, for SVG, PNG or HTML.

    It has no title: a file sets title and caption around it, clear of the axes.
    """
    out = go.Figure(fig)
    out.update_layout(title={"text": ""})
    on_top, at_left = 20 + _room_on_top(out) + _legend_height(out), _room_at_left(out)
    height, below = int(out.layout.height or 500), 90 if _bar_side(out) == "h" else 36
    out.update_layout(
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": FONT, "size": 14},
        width=int(out.layout.width or min(WIDTH, at_left + _width_of_squares(out, height - below) + 24)),
        height=height + on_top,
        margin={"l": at_left, "r": max(24, fig.layout.margin.r or 0), "t": on_top, "b": below},
    )
    for number, trace in enumerate(out.data):
        trace.uid = f"{number:06}"  # plotly.js would draw one by lot, and no two files would be the same
    out.update_xaxes(automargin=True)
    out.update_yaxes(automargin=True)
    _set_background(out, background)
    if not colorbar:
        out.update_traces(showscale=False, selector={"type": "heatmap"})
        out.update_coloraxes(showscale=False)
    return out


def browser_figure(fig: Figure) -> tuple[str, dict[Background, str]]:
    """Data of `fig` for plotly.js, and its layout on each background, as JSON."""
    ready = prepare_figure(fig)
    data = to_json_plotly(ready.to_dict()["data"])
    return data, {
        background: to_json_plotly(_set_background(go.Figure(ready), background).layout.to_plotly_json())
        for background in get_args(Background)
    }


def _set_background(fig: Figure, background: Background) -> Figure:
    """Set background, foreground and grid colours of a figure, in place; the grid is that of the page's own theme."""
    dark = background == "dark"
    foreground, quiet, grid = INK[dark], QUIET[dark], "#31333F" if dark else "#E6EAF1"
    fig.update_layout(
        template="plotly_dark" if dark else "plotly_white",
        paper_bgcolor="rgba(0,0,0,0)" if background == "transparent" else PAPER[background],
        font_color=foreground,
    )
    fig.update_xaxes(color=quiet, showgrid=False, zeroline=False, ticklabelstandoff=4)
    fig.update_yaxes(color=quiet, gridcolor=grid, zerolinecolor=grid, ticklabelstandoff=6)
    for note in fig.layout.annotations:
        if str(note.font.color).startswith("#"):
            note.font.color = readable_colour(note.font.color, dark=dark)
    return fig


def _width_of_squares(fig: Figure, height: int) -> int:
    """Width in pixels of a map of square cells with its colour bar: a wider file would be empty beside it."""
    maps = [trace for trace in fig.data if trace.type == "heatmap"]
    if len(list(fig.select_xaxes())) > 1 or fig.layout.yaxis.scaleanchor != "x" or not maps:
        return WIDTH
    rows, columns = np.shape(maps[0].z)
    return int(height * columns / rows) + (90 if _bar_side(fig) == "v" else 0)


def _bar_side(fig: Figure) -> str:
    """Whether the bar of a map's colours stands beside the cells, "v", or lies below them, "h"; empty without one."""
    bars = [trace.colorbar for trace in fig.data if trace.type == "heatmap" and trace.showscale is not False]
    return (bars[-1].orientation or "v") if bars else ""


def _legend_height(fig: Figure) -> int:
    """Pixels for a legend above the plot, or for the titles of several plots side by side."""
    on_top = fig.layout.showlegend is not False and fig.layout.legend.y != 0
    has_legend = on_top and sum(bool(trace.name) for trace in fig.data) > 1
    titled = any(note.yref == "paper" and (note.y or 0) >= 1 for note in fig.layout.annotations)
    return margin_above(fig, 26) if has_legend or titled else 0


def _room_at_left(fig: Figure) -> int:
    """Pixels of the longest label left of the plot, with the axis title."""
    axes = [axis for axis in fig.select_yaxes() if axis.showticklabels is not False]
    labels = ((text, axis.tickfont.size or 14) for axis in axes for text in axis.ticktext or ())
    return int(max([60.0, *(text_columns(text) * size * 0.62 + 44 for text, size in labels)]))


def _room_on_top(fig: Figure) -> int:
    """Pixels of labels above the plot; labels that would overlap are tilted.

    Plotly keeps room for the title or for such labels, whichever is larger, and so prints one over the other.
    """
    axis = fig.layout.xaxis
    if axis.side != "top":
        return 0
    size = axis.tickfont.size or 14
    widest = max((text_columns(text) for text in axis.ticktext or ()), default=2) * size * 0.62
    slot = (fig.layout.width or WIDTH) * 0.6 / max(1, len(axis.ticktext or ()))
    tilt = 0 if widest < slot else 60 if slot > size * 1.5 else 90
    fig.update_xaxes(tickangle=-tilt)
    return int(max(size, widest * math.sin(math.radians(tilt))) + (36 if axis.title.text else 12))


def standalone_html(fig: Figure, title: str | None = None, caption: str | None = None) -> str:
    """HTML file with plotly.js inside: interactive without a network."""
    width, height = fig.layout.width or WIDTH, fig.layout.height or 450
    fluid = go.Figure(fig).update_layout(width=None)  # as wide as the window up to its own width: a phone is narrow
    chart_html: str = fluid.to_html(
        include_plotlyjs=False,
        full_html=False,
        div_id="chart",
        default_height=f"{height}px",
        config={"displaylogo": False, "responsive": True},
    )
    paper, foreground = fig.layout.paper_bgcolor or "#FFFFFF", fig.layout.font.color or INK[0]
    heading = f"<h1>{html.escape(title)}</h1>" if title else ""
    below = f"<figcaption>{html.escape(caption)}</figcaption>" if caption else ""
    style = (
        f"body{{margin:16px;background:{paper};color:{foreground};font:14px {FONT}}}"
        f"figure{{margin:0;max-width:{width}px}}"
        "h1{font-size:18px;margin:0 8px}figcaption{margin:8px;line-height:1.5}"
    )
    return (
        f'<!doctype html><html><head><meta charset="utf-8"><title>{html.escape(title or "")}</title>'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><style>{style}</style>'
        f"<script>{PLOTLY_JS.read_text('utf-8')}</script></head>"
        f"<body><figure>{heading}{chart_html}{below}</figure></body></html>"
    )
