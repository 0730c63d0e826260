"""Bytes by tensor, and a cache in blocks over time."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from attnviz.base import units
from attnviz.base.words import _
from attnviz.figures.byte_axes import binary_ticks, titled
from attnviz.figures.stacked_bars import stacked
from attnviz.figures.theme import (
    ALTERNATIVE,
    K_VERMILION,
    MASKED,
    PRIMARY,
    Q_BLUE,
    RAW,
    SCALED,
    SERIES,
    THEORY,
    V_GREEN,
    Figure,
    layout,
    text_on,
)

COLOURS = {
    "q": Q_BLUE,
    "k": K_VERMILION,
    "v": V_GREEN,
    "scores": RAW,
    "weights": ALTERNATIVE,
    "output": SERIES[3],
    "log_sum": MASKED,
}
SHARED = THEORY  #: a block that several hold


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
    most = max(map(sum, zip(*parts.values(), strict=True)))
    axis = {"title": titled(_("bytes between slow and fast memory")), **binary_ticks(most)}
    return stacked(ways, parts, names, COLOURS, axis, text=units.both, height=260)


def memory(owner: np.ndarray, holders: np.ndarray, names: Sequence[str], here: int) -> Figure:
    """Blocks of memory (down) over steps (across), coloured by who holds them; `here` is the chosen step."""
    cells = go.Heatmap(
        z=np.where(holders > 1, len(names), np.where(holders > 0, owner, np.nan)).T,
        **_colours(len(names)),
        ygap=1,
        customdata=holders.T,
        hovertemplate=_("step %{x}, block %{y}, requests: %{customdata}") + "<extra></extra>",
    )
    legend = [
        go.Scatter(
            x=[None], y=[None], mode="markers", name=name, marker={"symbol": "square", "size": 11, "color": colour}
        )
        for name, colour in [*zip(names, SERIES, strict=False), (_("several"), SHARED)]
    ]
    look = {
        "xaxis": {"title": titled(_("step")), "showgrid": False, "zeroline": False},
        "yaxis": {"title": titled(_("block")), "autorange": "reversed", "showgrid": False, "zeroline": False},
        "shapes": [
            {"type": "rect", "x0": here - 0.5, "x1": here + 0.5, "y0": 0, "y1": 1, "yref": "y domain"}
            | {"line": {"color": PRIMARY[1], "width": 2}}
        ],
    }
    return layout(go.Figure([cells, *legend], look), height=380)


def table(blocks: Mapping[int, Sequence[int]], holders: Sequence[int], names: Sequence[str]) -> Figure:
    """The blocks of each request that is there, in the order of its tokens: the number in a cell is the block's."""
    shown = list(blocks)
    codes = np.full((len(shown), max(map(len, blocks.values()), default=1)), np.nan)
    for row, at in enumerate(shown):
        codes[row, : len(blocks[at])] = [len(names) if holders[number] > 1 else at for number in blocks[at]]
    cells = go.Heatmap(z=codes, **_colours(len(names)), xgap=2, ygap=2, hoverinfo="skip")
    inks = [text_on(SHARED if holders[n] > 1 else SERIES[at]) for at in shown for n in blocks[at]]
    numbers = go.Scatter(
        x=[col for at in shown for col in range(len(blocks[at]))],
        y=[row for row, at in enumerate(shown) for _number in blocks[at]],
        mode="text",
        text=[str(n) for at in shown for n in blocks[at]],
        textfont={"color": inks, "size": 13},
        hoverinfo="skip",
    )
    rows = {"tickvals": list(range(len(shown))), "ticktext": [names[at] for at in shown], "autorange": "reversed"}
    plain = {"showgrid": False, "zeroline": False}
    look = {
        "xaxis": {"title": titled(_("which block of the request")), "dtick": 1, **plain},
        "yaxis": rows | plain,
        "showlegend": False,
    }
    return layout(go.Figure([cells, numbers], look), height=380)


def tokens(lines: Mapping[str, np.ndarray], here: int) -> Figure:
    """Tokens over steps: what is reserved or held, broken or whole, and what is there."""
    looks = [(RAW, "solid"), (RAW, "dot"), (SCALED, "solid"), (SCALED, "dot")]
    curves = [
        go.Scatter(
            x=np.arange(len(values)),
            y=values,
            name=name,
            mode="lines",
            line={"color": colour, "width": 2.5, "dash": dash, "shape": "hv"},
            hovertemplate="%{x}: %{y:,}<extra>" + name + "</extra>",
        )
        for (name, values), (colour, dash) in zip(lines.items(), looks, strict=True)
    ]
    look = {
        "xaxis": {"title": titled(_("step"))},
        "yaxis": {"title": titled(_("tokens")), "rangemode": "tozero"},
    }
    fig = go.Figure(curves, look)
    fig.add_vline(x=here, line={"color": THEORY, "width": 1, "dash": "dot"})
    return layout(fig, height=300)


def _colours(names: int) -> dict[str, object]:
    """A scale of one colour for each request, and one for several."""
    every = [*SERIES[:names], SHARED]
    scale = [(edge / len(every), colour) for at, colour in enumerate(every) for edge in (at, at + 1)]
    return {"colorscale": scale, "zmin": -0.5, "zmax": len(every) - 0.5, "showscale": False, "hoverongaps": False}
