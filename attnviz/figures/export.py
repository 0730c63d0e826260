"""A figure made ready to leave the app: a fixed look, nothing cut, nothing fetched."""

from __future__ import annotations

import html
import textwrap
from pathlib import Path
from typing import Literal

import plotly
import plotly.graph_objects as go

from attnviz.figures.theme import FONT, Figure

Background = Literal["white", "transparent", "dark"]

PLOTLY_JS = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"

_PAPER: dict[Background, str] = {"white": "#FFFFFF", "transparent": "rgba(0,0,0,0)", "dark": "#14161C"}


def prepared(
    fig: Figure,
    *,
    background: Background = "white",
    title: str | None = None,
    caption: str | None = None,
    colorbar: bool = True,
    width: int = 900,
    height: int | None = None,
) -> Figure:
    """A copy of `fig` with its own background, ink and size, ready for SVG, PNG or HTML."""
    out = go.Figure(fig)
    ink, grid = ("#E8EAED", "#3A3F4A") if background == "dark" else ("#1F2328", "#D8DCE2")
    height = height or int(out.layout.height or 500)
    lines = textwrap.wrap(caption, width=max(20, width // 7)) if caption else []
    out.update_layout(
        template="plotly_dark" if background == "dark" else "plotly_white",
        paper_bgcolor=_PAPER[background],
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": FONT, "size": 14, "color": ink},
        width=width,
        height=height + 19 * len(lines) + (30 if title else 0),
        title={"text": html.escape(title, quote=False) if title else "", "font": {"size": 18, "color": ink}},
        margin={"l": 24, "r": 24, "t": 64 if title else 24, "b": 36 + 19 * len(lines)},
    )
    out.update_xaxes(automargin=True, color=ink, gridcolor=grid)
    out.update_yaxes(automargin=True, color=ink, gridcolor=grid)
    if not colorbar:
        out.update_traces(showscale=False, selector={"type": "heatmap"})
        out.update_coloraxes(showscale=False)
    if lines:
        out.add_annotation(
            text="<br>".join(html.escape(line, quote=False) for line in lines),
            xref="paper",
            yref="paper",
            x=0,
            y=0,
            yshift=-30,
            xanchor="left",
            yanchor="top",
            align="left",
            showarrow=False,
            font={"size": 12, "color": ink},
        )
    return out


def standalone_html(fig: Figure, title: str) -> str:
    """One file that stays interactive with no network: plotly.js is inside it."""
    page: str = fig.to_html(include_plotlyjs=True, full_html=True, config={"displaylogo": False, "responsive": True})
    return page.replace("<head>", f"<head><title>{html.escape(title)}</title>", 1)
