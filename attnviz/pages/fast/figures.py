"""Bytes by tensor, and a cache in blocks over time."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attnviz.base import units
from attnviz.base.words import _
from attnviz.figures.chart import BARE, Series, axis, cells, chart, line, points
from attnviz.figures.cost_charts import byte_axis, draw_stacked_bars
from attnviz.figures.theme import (
    ALTERNATIVE,
    K_VERMILION,
    MASKED,
    PRIMARY,
    Q_BLUE,
    RAW,
    ROLES,
    SCALED,
    SERIES,
    THEORY,
    V_GREEN,
    Figure,
    choose_text_colour,
)

COLOURS = {
    "q": Q_BLUE,
    "k": K_VERMILION,
    "v": V_GREEN,
    "scores": ROLES["score"],
    "weights": ROLES["weight"],
    "output": ALTERNATIVE,
    "log_sum": MASKED,
}
SHARED_COLOUR = THEORY  #: a block that several hold


def bytes_moved(ways: Sequence[str], parts: Mapping[str, Sequence[int]]) -> Figure:
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
    slow = byte_axis(_("bytes between slow and fast memory"), most)
    return draw_stacked_bars(ways, parts, names, COLOURS, slow, text=units.decimal_and_binary, height=260)


def memory_blocks(owner: np.ndarray, holders: np.ndarray, names: Sequence[str], here: int) -> Figure:
    """Blocks of memory (down) over steps (across), coloured by who holds them; `here` is the chosen step."""
    codes = np.where(holders > 1, len(names), np.where(holders > 0, owner, np.nan)).T
    hover = _("step %{x}, block %{y}, requests: %{customdata}")
    column = {"type": "rect", "x0": here - 0.5, "x1": here + 0.5, "y0": 0, "y1": 1, "yref": "y domain"}
    return chart(
        [
            _block_cells(codes, len(names), ygap=1, customdata=holders.T, hover=hover),
            *(
                points([None], [None], name, colour, size=11, symbol="square")
                for name, colour in [*zip(names, SERIES, strict=False), (_("several"), SHARED_COLOUR)]
            ),
        ],
        axis(_("step"), 12, **BARE),
        axis(_("block"), 12, autorange="reversed", **BARE),
        height=380,
        marks=[column | {"line": {"color": PRIMARY[1], "width": 2}}],
    )


def block_table(blocks: Mapping[int, Sequence[int]], holders: Sequence[int], names: Sequence[str]) -> Figure:
    """The blocks of each request that is there, in the order of its tokens: the number in a cell is the block's."""
    codes = np.full((len(blocks), max(map(len, blocks.values()), default=1)), np.nan)
    for row, (at, mine) in enumerate(blocks.items()):
        codes[row, : len(mine)] = [len(names) if holders[number] > 1 else at for number in mine]
    inks = [
        choose_text_colour(SHARED_COLOUR if holders[n] > 1 else SERIES[at]) for at, mine in blocks.items() for n in mine
    ]
    numbers = points(
        [col for mine in blocks.values() for col in range(len(mine))],
        [row for row, mine in enumerate(blocks.values()) for _number in mine],
        text=[str(n) for mine in blocks.values() for n in mine],
        mode="text",
        textfont={"color": inks, "size": 13},
        hover="",
    )
    return chart(
        [_block_cells(codes, len(names), gap=2, hover=""), numbers],
        axis(_("which block of the request"), 12, dtick=1, **BARE),
        axis(labels={row: names[at] for row, at in enumerate(blocks)}, autorange="reversed", **BARE),
        height=380,
        showlegend=False,
    )


def tokens_over_steps(lines: Mapping[str, np.ndarray], here: int) -> Figure:
    """Tokens over steps: what is reserved or held, broken or whole, and what is there."""
    looks = [(RAW, "solid"), (RAW, "dot"), (SCALED, "solid"), (SCALED, "dot")]
    return chart(
        [
            line(np.arange(len(values)), values, name, colour, dash=dash, shape="hv", hover="%{x}: %{y:,}")
            for (name, values), (colour, dash) in zip(lines.items(), looks, strict=True)
        ],
        axis(_("step"), 12),
        axis(_("tokens"), 12, rangemode="tozero"),
        height=300,
        here=here,
    )


def _block_cells(codes: np.ndarray, names: int, **look: Any) -> Series:
    """Cells in one colour for each request, and one for several."""
    every = [*SERIES[:names], SHARED_COLOUR]
    scale = [(edge / len(every), colour) for at, colour in enumerate(every) for edge in (at, at + 1)]
    return cells(codes, scale, -0.5, len(every) - 0.5, hoverongaps=False, **look)
