"""A tile at work as a drawing for files, bytes by tensor, and a cache in blocks over time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from attnviz.base import units
from attnviz.base.words import _
from attnviz.figures import svg
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
    SCORES,
    SCORES_ON_DARK,
    SERIES,
    THEORY,
    V_GREEN,
    Figure,
    layout,
    mixed,
    ramp,
    text_on,
)

SIDE, LEFT, TOP, BAR, STRIP = 380, 34, 58, 24, 11  #: of the drawing of a tile
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


@dataclass(frozen=True, eq=False)
class TilePicture:
    """A film's scores, the cells of tile `at` in colour; `said` are lines beside it: what lies in which memory."""

    told: Mapping[str, Any]  #: the film's tokens, blocks, tiles and direction
    at: int
    shades: np.ndarray  #: (T, T), from -1 to 1, NaN where masked
    kept: Mapping[str, np.ndarray]  #: numbers of each line by now, NaN where it has none yet; lines are keys backward
    said: Sequence[str]
    title: str = ""

    def drawn(self, ink: svg.Ink, bar: bool = True) -> svg.Drawn:
        """The picture without title and caption; colours are centred on 0."""
        each, across = SIDE / self.told["tokens"], self.told["backward"]
        rows, cols = (
            slice(start, min(start + block, self.told["tokens"]))
            for start, block in zip(self._starts()[self.at], self.told["blocks"], strict=True)
        )
        (y, tall), (x, wide) = ((side.start * each, (side.stop - side.start) * each) for side in (rows, cols))
        place = (LEFT + x, TOP + y, wide, tall)
        codes = np.nan_to_num(np.rint(127 + 127 * self.shades[rows, cols]), nan=255).astype(np.uint8)
        png = svg.indexed_png(codes, ramp(SCORES_ON_DARK if ink.dark else SCORES), 255)
        parts = [
            svg.box(LEFT, TOP, SIDE, SIDE, fill="url(#masked)"),
            *self._tiles(ink),
            svg.box(*place, fill=ink.ground) + svg.box(*place, fill="url(#masked)"),
            svg.pixels(png, *place),
            svg.box(*place, stroke=ink.text, width=2),
            svg.words("Q", 10 + STRIP / 2, TOP - 10, fill=ink.q, weight=600, anchor="middle"),
            svg.box(10, TOP, STRIP, SIDE, fill=ink.q, opacity=0.22) + svg.box(10, TOP + y, STRIP, tall, fill=ink.q),
        ]
        for name, colour, top in (("V", ink.v, 6), ("K", ink.k, 22)):
            parts.append(svg.words(name, LEFT - 8, top + 5, fill=colour, weight=600, anchor="end"))
            parts.append(svg.box(LEFT, top, SIDE, STRIP, fill=colour, opacity=0.22))
            parts.append(svg.box(LEFT + x, top, wide, STRIP, fill=colour))
        for number, name in enumerate(self.kept):
            parts += self._kept(name, SIDE + 8 + number * (BAR + 8), ink)
        beside, below = (0, 2 * (BAR + 8)) if across else (2 * (BAR + 8), 6)
        left = LEFT + SIDE + beside + 20
        parts += [svg.words(line, left, TOP + 10 + 20 * number) for number, line in enumerate(self.said)]
        width = left + max((svg.text_width(line, 12) for line in self.said), default=0)
        return svg.Drawn(width, TOP + SIDE + below, parts)

    def _starts(self) -> np.ndarray:
        """The first query and the first key of each tile, (steps, 2)."""
        return np.array(self.told["tiles"]) * self.told["blocks"]

    def _tiles(self, ink: svg.Ink) -> list[str]:
        """Tiles that are done and gone, and tiles to come."""
        tokens, (tall, wide) = self.told["tokens"], self.told["blocks"]
        states = np.full((tokens, tokens), 2, np.uint8)
        for step, (row, col) in enumerate(self._starts()):
            states[row : row + tall, col : col + wide] = step >= self.at
        colours = [mixed(ink.ground, ink.text, 0.22), mixed(ink.ground, ink.text, 0.05), MASKED]
        ends = [[SIDE / tokens * place for place in range(block, tokens, block)] for block in (tall, wide)]
        return [
            svg.pixels(svg.indexed_png(states, colours, 2), LEFT, TOP, SIDE, SIDE),
            *(svg.line(LEFT, TOP + y, LEFT + SIDE, TOP + y, stroke=ink.ground) for y in ends[0]),
            *(svg.line(LEFT + x, TOP, LEFT + x, TOP + SIDE, stroke=ink.ground) for x in ends[1]),
        ]

    def _kept(self, name: str, at: float, ink: svg.Ink) -> list[str]:
        """What lines keep: darker is more, from the lowest of them to the highest; nothing where there is none yet."""
        values, across = self.kept[name], self.told["backward"]
        low, high = float(np.nanmin(values)), float(np.nanmax(values))
        codes = np.nan_to_num(20 + 234 * (values - low) / ((high - low) or 1.0)).astype(np.uint8)
        png = svg.indexed_png(codes[None] if across else codes[:, None], ramp([(0, ink.ground), (1, ink.text)]))
        place = (LEFT, TOP + at, SIDE, BAR) if across else (LEFT + at, TOP, BAR, SIDE)
        words = (LEFT - 8, TOP + at + BAR / 2) if across else (LEFT + at + BAR / 2, TOP - 10)
        return [svg.words(name, *words, anchor="end" if across else "middle"), svg.pixels(png, *place)]


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
