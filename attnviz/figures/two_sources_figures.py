"""Where one word looks among the words of a text and the patches of a picture, and what either brings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from attnviz.figures.heatmap import label
from attnviz.figures.patch_light import GLOW, hover_points, picture_axes
from attnviz.figures.theme import SERIES, Figure, layout
from attnviz.figures.title_lines import above
from attnviz.words import _


def looks(text: np.ndarray, picture: np.ndarray, words: Sequence[str], pixels: np.ndarray) -> Figure:
    """The weights of one query by head: on the words (H, K) as bars, on the patches (H, P) as squares on the picture.

    A square's area is its patch's weight: a whole patch is all of it. `pixels` (height, width) are counts of ink.
    """
    heads = len(text)
    side = round(picture.shape[1] ** 0.5)
    per = pixels.shape[0] // side
    titles = [_("the words")] + [_("head {h}").format(h=h + 1) for h in range(heads)]
    fig = make_subplots(1, heads + 1, subplot_titles=titles, column_widths=[1.5] + [1] * heads, horizontal_spacing=0.05)
    for h in range(heads):
        bars = go.Bar(
            x=text[h],
            y=list(range(len(words))),
            orientation="h",
            name=_("head {h}").format(h=h + 1),
            marker={"color": SERIES[h], "line_width": 0},
            hovertemplate="%{y}: %{x:.4f}<extra>" + _("head {h}").format(h=h + 1) + "</extra>",
        )
        fig.add_trace(bars, 1, 1)
        _patches(fig, h + 2, picture[h], pixels, side, per)
    ticks = {"tickmode": "array", "tickvals": list(range(len(words))), "ticktext": [label(word) for word in words]}
    fig.update_xaxes(range=[0, 1], tickformat=".0%", row=1, col=1)
    fig.update_yaxes(**ticks, autorange="reversed", showgrid=False, zeroline=False, row=1, col=1)
    fig.update_annotations(font_size=12)  # four heads side by side on a phone
    fig = layout(fig, height=300)
    below = {"orientation": "h", "yanchor": "top", "y": -0.12, "x": 0}
    return fig.update_layout(margin={"t": above(fig, 36)}, barmode="group", legend=below, showlegend=heads > 1)


def _patches(fig: Figure, column: int, weights: np.ndarray, pixels: np.ndarray, side: int, per: int) -> None:
    """The picture with a square in each patch."""
    ink = go.Heatmap(
        z=pixels,
        colorscale=[(0.0, "#23262d"), (1.0, "#9aa1ad")],
        showscale=False,
        hoverinfo="skip",
    )
    fig.add_trace(ink, 1, column)
    middles = np.arange(side) * per + (per - 1) / 2
    y, x = (each.ravel() for each in np.meshgrid(middles, middles, indexing="ij"))
    half = per / 2 * np.sqrt(np.clip(weights, 0, 1))
    for at in range(side * side):
        fig.add_shape(
            type="rect",
            x0=x[at] - half[at],
            x1=x[at] + half[at],
            y0=y[at] - half[at],
            y1=y[at] + half[at],
            fillcolor=GLOW,
            line_width=0,
            row=1,
            col=column,
        )
    told = np.stack([np.arange(side * side) // side + 1, np.arange(side * side) % side + 1, weights], -1)
    says = _("patch in row %{customdata[0]}, column %{customdata[1]}: %{customdata[2]:.4f}")
    fig.add_trace(hover_points(x, y, told, says, size=18), 1, column)
    picture_axes(fig, pixels.shape, column, {"row": 1, "col": column})


def brought(parts: Sequence[tuple[str, np.ndarray]], words: Sequence[str]) -> Figure:
    """How long the vectors are that each source brings to each word: `parts` are (name, lengths (Q,))."""
    fig = go.Figure()
    for at, (name, lengths) in enumerate(parts):
        fig.add_bar(
            x=lengths,
            y=list(range(len(words))),
            orientation="h",
            name=name,
            marker={"color": (SERIES[0], GLOW, "#7F7F7F")[at % 3], "line_width": 0},
            hovertemplate="%{y}: %{x:.3f}<extra>" + name + "</extra>",
        )
    ticks = {"tickmode": "array", "tickvals": list(range(len(words))), "ticktext": [label(word) for word in words]}
    fig.update_yaxes(**ticks, autorange="reversed", showgrid=False, zeroline=False)
    fig.update_xaxes(title_text=_("length of the vector"), rangemode="tozero")
    fig = layout(fig, height=int(np.clip(130 + 44 * len(words), 220, 460)))
    return fig.update_layout(barmode="group", legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0})
