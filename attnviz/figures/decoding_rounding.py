"""A cache in few bits: how far predictions move for the bytes, and the error of each layer's keys and values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from attnviz.figures.theme import K_VERMILION, SERIES, V_GREEN, Figure, layout
from attnviz.figures.title_lines import in_lines
from attnviz.words import _

FLOOR = 1e-8


def for_bytes(names: Sequence[str], shares: Sequence[float], values: Sequence[float]) -> Figure:
    """Mean KL (nats) against the share of the 16-bit cache's bytes: to the left is smaller, down is closer."""
    fig = go.Figure(
        go.Scatter(
            x=list(shares),
            y=[max(value, FLOOR) for value in values],
            mode="markers+text",
            text=[in_lines(name, 170, 13) for name in names],
            textposition=["top left" if share > 0.35 else "top right" for share in shares],
            marker={"size": 13, "color": [SERIES[n % len(SERIES)] for n in range(len(names))]},
            hovertemplate="%{text}: %{x:.1%}, %{y:.3g}<extra></extra>",
            cliponaxis=False,
        )
    )
    fig.update_xaxes(
        title={"text": _("bytes, as a share of the same cache at 16 bits"), "font": {"size": 12}},
        tickformat=".0%",
        range=[0, 0.62],
    )
    fig.update_yaxes(type="log", title={"text": _("KL, nats"), "font": {"size": 12}}, dtick=1, exponentformat="power")
    return layout(fig, height=320)


def errors(lines: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> Figure:
    """The error of keys (solid) and values (dashed) by layer, one pair of lines for each format."""
    fig = go.Figure()
    dashes = ("solid", "dash", "dot", "dashdot", "longdash")
    for number, (name, (keys, values)) in enumerate(lines.items()):
        for which, held, colour in ((_("K"), keys, K_VERMILION), (_("V"), values, V_GREEN)):
            fig.add_trace(
                go.Scatter(
                    x=list(range(len(held))),
                    y=[100 * each for each in held],
                    name=f"{which}, {name}",
                    mode="lines",
                    line={"color": colour, "width": 2, "dash": dashes[number % len(dashes)]},
                    hovertemplate="%{x}: %{y:.3g} %<extra>" + f"{which}, {name}" + "</extra>",
                )
            )
    fig.update_xaxes(title={"text": _("layer"), "font": {"size": 12}})
    fig.update_yaxes(
        type="log", title={"text": _("error, % of the numbers’ size"), "font": {"size": 12}}, exponentformat="none"
    )
    fig.update_layout(showlegend=True)
    return layout(fig, height=320)
