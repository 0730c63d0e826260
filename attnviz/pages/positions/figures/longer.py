"""Texts longer than trained: wavelengths under each scaling, and scores over distance."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from attnviz.base.words import _
from attnviz.figures.theme import RAW, SCALED, SERIES, THEORY, Figure, layout, with_alpha
from attnviz.figures.title_lines import below


def wavelengths(lines: Mapping[str, np.ndarray], chosen: str, trained: int, wanted: int) -> Figure:
    """Positions that each pair takes for one turn, for every scaling by its name; the chosen one stands out."""
    fig = go.Figure()
    colours = dict(zip(lines, [THEORY, *SERIES], strict=False))
    for name, values in lines.items():
        here = name == chosen
        fig.add_scatter(
            x=np.arange(len(values)),
            y=values,
            mode="lines",
            name=name,
            line={"color": colours[name], "width": 4 if here else 1.6, "dash": "solid" if here else "dot"},
            hovertemplate=_("pair %{x}: one turn in %{y:,.4g} positions") + f"<extra>{name}</extra>",
        )
    for y, words in ((trained, _("trained on {n:,}")), (wanted, _("wanted: {n:,}"))):
        fig.add_hline(y=y, line={"color": THEORY, "dash": "dash", "width": 1})
        note = {"text": words.format(n=y), "showarrow": False, "font": {"size": 11, "color": THEORY}}
        fig.add_annotation(x=0, y=float(np.log10(y)), xanchor="left", yanchor="bottom", **note)
    fig.update_xaxes(title_text=_("pair, the fastest first"), zeroline=False)
    fig.update_yaxes(type="log", dtick=1, exponentformat="power", title_text=_("positions for one turn"))
    return layout(fig, height=400).update_layout(legend=below())


def over_distance(distance: np.ndarray, plain: np.ndarray, chosen: np.ndarray, name: str, trained: int) -> Figure:
    """q.k / sqrt(D) over distance as trained and with the chosen scaling; beyond the trained length it is shaded."""
    fig = go.Figure()
    fig.add_vrect(x0=trained, x1=float(distance[-1]), fillcolor=with_alpha(THEORY, 0.16), line_width=0)
    for values, words, colour, width in ((plain, _("as trained"), RAW, 1.6), (chosen, name, SCALED, 2.2)):
        fig.add_scatter(
            x=distance,
            y=values,
            mode="lines",
            name=words,
            line={"color": colour, "width": width},
            hovertemplate="%{x:,}: %{y:.4g}<extra>" + words + "</extra>",
        )
    fig.update_xaxes(title_text=_("distance"), zeroline=False, range=[0, float(distance[-1])])
    fig.update_yaxes(title_text=_("score"))
    return layout(fig, height=400)
