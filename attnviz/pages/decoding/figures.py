"""Charts of decoding: cache bytes, totals with and without a cache, rounding, and eviction policies."""

import html
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attnviz.base.rounding import Rounded
from attnviz.base.words import _
from attnviz.figures.chart import BARE, POWERS, axis, cells, chart, line, points
from attnviz.figures.cost_charts import RoofPoints, draw_roofline
from attnviz.figures.heatmap import token_axis
from attnviz.figures.theme import K_VERMILION, MASKED, SERIES, V_GREEN, Figure
from attnviz.figures.title_lines import break_title

FLOOR, KL_FLOOR = 1e-8, 1e-6  #: drawn in place of 0 on a log axis: for a rounded cache, for a policy


# Bytes of a cache over the number of tokens, one line for each way of sharing.
def roofline(
    peak: float, bandwidth: float, points: Mapping[str, tuple[Sequence[float], Sequence[float], Sequence[str]]]
) -> Figure:
    """FLOP/s over FLOPs a byte, both logarithmic. `points`: kind -> (intensities, FLOP/s, labels)."""
    kinds = {
        "prefill": (_("prefill, tokens in the prompt"), "bottom right", "circle", SERIES[0]),
        "decode": (_("decode, one token after so many"), "top left", "diamond", SERIES[1]),
    }
    point_groups = [RoofPoints(*style, *points[kind]) for kind, style in kinds.items()]
    return draw_roofline(peak, bandwidth, point_groups, _("FLOPs for each byte read"))


def _choose_label_side(at: int, shares: Sequence[float], values: Sequence[float]) -> str:
    """Plotly text position of the label at point `at`: below if a near neighbour is higher, else above."""
    low = any(
        abs(share - shares[at]) < 0.125 and value > values[at] for share, value in zip(shares, values, strict=True)
    )
    return f"{'bottom' if low else 'top'} {'left' if shares[at] > 0.35 else 'right'}"


def divergence_over_bytes(names: Sequence[str], shares: Sequence[float], values: Sequence[float]) -> Figure:
    """Mean KL (nats) of each format over its bytes, as a share of the 16-bit cache."""
    point_series = points(
        list(shares),
        [max(value, FLOOR) for value in values],
        None,
        [SERIES[n % len(SERIES)] for n in range(len(names))],
        size=13,
        text=[break_title(name, 170, 13) for name in names],
        at=[_choose_label_side(at, shares, values) for at in range(len(shares))],
        hover="%{text}: %{x:.1%}, %{y:.3g}",
        cliponaxis=False,
    )
    x = axis(_("bytes, as a share of the same cache at 16 bits"), 12, tickformat=".0%", range=[0, 0.62])
    return chart([point_series], x, axis(_("KL, nats"), 12, **POWERS), height=320)


def errors_by_layer(lines: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> Figure:
    """Relative error of keys (solid) and values (dashed) by layer, two lines for each format."""
    dashes = ("solid", "dash", "dot", "dashdot", "longdash")
    curves = [
        line(
            list(range(len(errors))),
            [100 * error for error in errors],
            f"{which}, {name}",
            colour,
            width=2,
            dash=dashes[number % len(dashes)],
            hover="%{x}: %{y:.3g} %",
        )
        for number, (name, of_both) in enumerate(lines.items())
        for which, errors, colour in zip((_("K"), _("V")), of_both, (K_VERMILION, V_GREEN), strict=True)
    ]
    y = axis(_("error, % of the numbers’ size"), 12, type="log", exponentformat="none")
    return chart(curves, axis(_("layer"), 12), y, height=320)


LABELS = 48  #: of rows
CELLS_APART = 48  #: columns whose cells are told apart by a gap; of more, a phone would show the gaps alone
LABELS_ACROSS = 24  #: of columns, so that a phone has room for them


def divergence_over_budget(lines: Mapping[str, tuple[Sequence[int], Sequence[float]]], total: int, here: int) -> Figure:
    """Mean KL (nats) over the budget, one line for each policy. Ticks also give the share of bytes."""
    every = sorted({budget for budgets, _values in lines.values() for budget in budgets})
    named = {n: f"{n}<br>{Rounded(n / total):.0%}" for n in every}
    return chart(
        [
            line(
                list(budgets),
                [max(value, KL_FLOOR) for value in values],
                name,
                SERIES[number],
                dots=8,
                customdata=[budget / total for budget in budgets],
                hover="%{x} (%{customdata:.0%}): %{y:.3g}<extra>" + html.escape(name) + "</extra>",
            )
            for number, (name, (budgets, values)) in enumerate(lines.items())
        ],
        axis(_("positions kept, and the share of bytes"), 12, named, type="log"),
        axis(_("KL, nats"), 12, **POWERS),
        height=330,
        here=here,
    )


def draw_visible_positions(visible: np.ndarray, rows: Sequence[str], cols: Sequence[str], colour: str) -> Figure:
    """Grid of the columns that each row may see. `visible`: boolean (rows, cols); later columns are blank."""
    later = np.arange(len(cols)) > np.arange(len(cols) - len(rows), len(cols))[:, None]
    grid = cells(
        np.where(later, np.nan, visible.astype(np.float32)),
        [(0, MASKED), (0.5, MASKED), (0.5, colour), (1, colour)],
        0,
        1,
        gap=1 if len(cols) <= CELLS_APART else 0,
        hoverongaps=False,
        customdata=np.where(visible, _("kept"), _("evicted")),
        hover="%{y} → %{x}<br>%{customdata}",
    )
    small: dict[str, Any] = BARE | {"tickfont": {"size": 10}, "ticks": ""}
    return chart(
        [grid],
        token_axis(cols, LABELS_ACROSS, side="top", tickangle=-60, **small),
        token_axis(rows, LABELS, autorange="reversed", **small),
        height=int(np.clip(120 + 9 * len(rows), 260, 640)),
    )
