"""Which positions a layer mixes, a small matrix for each layer and input; and what fewer heads than places miss."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from attnviz.figures.compare_curves import below
from attnviz.figures.theme import SERIES, WEIGHTS, Figure, layout
from attnviz.figures.title_lines import above
from attnviz.words import _


def matrices(
    names: Sequence[str], rows: Sequence[tuple[str, Sequence[np.ndarray]]], height: int | None = None
) -> Figure:
    """A column for each layer, a row for each input; every column is coloured from 0 to its own largest cell."""
    fig = make_subplots(
        len(rows),
        len(names),
        column_titles=list(names),
        horizontal_spacing=0.025,
        vertical_spacing=0.05,
    )
    tops = [max(float(kept[column].max()) for _name, kept in rows) for column in range(len(names))]
    for row, (said, found) in enumerate(rows, 1):
        for column, norms in enumerate(found, 1):
            fig.add_heatmap(
                z=(norms / (tops[column - 1] or 1)).astype("float32"),
                customdata=norms,
                coloraxis="coloraxis",
                hovertemplate=said + ": " + _("output %{y}, input %{x}: %{customdata:.3g}") + "<extra></extra>",
                row=row,
                col=column,
            )
    fig.update_xaxes(showticklabels=False, showgrid=False, constrain="domain")
    fig.update_yaxes(showticklabels=False, showgrid=False, autorange="reversed", constrain="domain")
    for row, (said, _found) in enumerate(rows, 1):
        fig.update_yaxes(title={"text": said, "font": {"size": 12}}, row=row, col=1)
    fig.update_annotations(font_size=12)
    fig = layout(fig, height=height or 60 + 190 * len(rows))
    bar = {"title": "", "thickness": 10, "tickvals": [0, 1], "ticktext": ["0", _("largest")], "len": 0.5}
    bar |= {"orientation": "h", "y": -0.03, "yanchor": "top"}
    fig.update_layout(
        coloraxis={"colorscale": WEIGHTS, "cmin": 0, "cmax": 1, "colorbar": bar}, margin={"t": above(fig, 26), "l": 4}
    )
    return fig


def missing(
    heads: np.ndarray, lines: Sequence[tuple[str, np.ndarray]], average: float, here: int, height: int = 300
) -> Figure:
    """What a number of heads misses of a convolution; `average` is one head that looks everywhere evenly."""
    fig = go.Figure()
    for number, (name, errors) in enumerate(lines):
        fig.add_scatter(
            x=heads,
            y=errors,
            name=name,
            mode="lines+markers",
            line={"color": SERIES[number], "width": 2.2, "dash": "dash" if number else "solid"},
            marker={"size": 7},
            hovertemplate=_("%{x} heads miss %{y:.1%}") + f"<extra>{name}</extra>",
        )
    name = _("one head, the average of all places")
    fig.add_scatter(
        x=[1],
        y=[average],
        name=name,
        mode="markers",
        marker={"size": 12, "symbol": "diamond", "color": SERIES[2]},
        hovertemplate=f"%{{y:.1%}}<extra>{name}</extra>",
    )
    if here:
        fig.add_vline(x=here, line={"color": SERIES[7], "width": 1, "dash": "dot"})
    fig.update_xaxes(title={"text": _("heads"), "font": {"size": 12}}, dtick=max(1, len(heads) // 8))
    fig.update_yaxes(title={"text": _("missed"), "font": {"size": 12}}, tickformat=".0%", range=[0, 1.04])
    fig = layout(fig, height=height)
    fig.update_layout(legend=below(), margin={"t": 12})
    return fig
