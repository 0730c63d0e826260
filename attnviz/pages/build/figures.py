"""Figures of the building page's lessons: before and after an edit, normalisers, mixing matrices, blur."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np

from attnviz.base.rounding import Rounded
from attnviz.base.words import _
from attnviz.figures.attention_figures import GLOW, compact_token_axis, hover_points, picture_axes, side_by_side
from attnviz.figures.chart import BARE, Panel, Series, axis, bars, cells, chart, line, mark_x, note, panels
from attnviz.figures.heatmap import token_axis
from attnviz.figures.theme import SCALED, SERIES, THEORY, Figure


def before_and_after_order(
    before: np.ndarray, after: np.ndarray, tokens: Sequence[str], new_order: Sequence[str]
) -> Figure:
    """Weights over a sentence and, beside them, over its words in a new order; each picture has its own words."""
    fig = side_by_side([(_("attention"), before), (_("after the change"), after)], tokens, tokens)
    labels = compact_token_axis(new_order)["ticktext"]
    return fig.update_xaxes(ticktext=labels, col=2, row=1).update_yaxes(ticktext=labels, col=2, row=1)


def row_and_column_sums(rows: np.ndarray, cols: np.ndarray, queries: Sequence[str], keys: Sequence[str]) -> Figure:
    """The sums of the rows of a weight matrix beside the sums of its columns, with a line at 1."""
    top = 1.35 * max(1.0, float(rows.max(initial=0)), float(cols.max(initial=0)))
    return panels(
        [
            Panel(
                [
                    _horizontal_bars(
                        values, None, colour, 4, numbers=".2f" if len(labels) <= 16 else None, showlegend=False
                    )
                ],
                {"range": [0, top]},
                compact_token_axis(labels) | {"autorange": "reversed", "showgrid": False},
                [mark_x(1, dash="dash", layer="below")],
            )
            for values, labels, colour in ((rows, queries, SCALED), (cols, keys, SERIES[3]))
        ],
        2,
        spacing={"horizontal_spacing": 0.12, "shared_xaxes": "all"},
        titles=(_("row sums: given"), _("column sums: received")),
        height=int(np.clip(100 + 24 * max(len(queries), len(keys)), 160, 430)),
        top=40,
    )


def normaliser_bars(weights: Mapping[str, np.ndarray], keys: Sequence[str]) -> Figure:
    """Bars of weights by normaliser, all from the same scores. `weights`: title -> weights (K,)."""
    return panels(
        [
            _normaliser_panel(name, values, keys, SERIES[i % len(SERIES)])
            for i, (name, values) in enumerate(weights.items())
        ],
        2,  # beside each other: on a phone three have no room for their numbers
        spacing={"horizontal_spacing": 0.1, "vertical_spacing": 0.16},
        titles=list(weights),
        height=40 + 160 * -(-len(weights) // 2),
        top=36,
        bargap=0.25,
    )


def _normaliser_panel(name: str, values: np.ndarray, keys: Sequence[str], colour: str) -> Panel:
    low, high = min(0.0, float(values.min())), max(1.0, float(values.max()))
    room, indices = 0.18 * (high - low), list(range(len(keys)))
    hover = f"%{{x}}: %{{y:.3f}}<extra>{name}</extra>"
    return Panel(
        [
            bars(
                indices,
                values,
                None,
                colour,
                numbers=".2f",
                hover=hover,
                showlegend=False,
            )
        ],
        compact_token_axis(keys) | {"showgrid": False},
        {"range": [low - (room if low < 0 else 0), high + room], "showgrid": False, "zeroline": True},
    )


def growth(copies: Sequence[int], lines: Mapping[str, np.ndarray]) -> Figure:
    """Length of the output as the same keys are repeated; both axes logarithmic."""
    strokes = [(3, "solid"), *[(2, "dot")] * len(lines)]
    return chart(
        [
            line(list(copies), np.where(values > 0, values, np.nan), name, colour, width=width, dash=dash, dots=True)
            for (name, values), colour, (width, dash) in zip(lines.items(), cycle(SERIES), strokes, strict=False)
        ],
        axis(_("times each key is repeated"), labels=copies, type="log", showgrid=False),
        axis(_("length of the output"), type="log", dtick=1),
        height=320,
    )


def parameter_curves(lengths: Sequence[int], attention: Sequence[int], mixing: Sequence[int], here: int) -> Figure:
    """Learned parameters of attention and of a mixing matrix by sentence length. `here`: this sentence's length."""
    log: dict[str, Any] = {"type": "log", "dtick": 1}
    return chart(
        [
            line(list(lengths), list(attention), _("attention"), SCALED, width=None, dots=True),
            line(list(lengths), list(mixing), _("mixing matrix"), SERIES[1], width=None, dots=True),
        ],
        axis(_("words in the sentence"), showgrid=False, **log),
        axis(_("numbers to learn"), **log),
        height=320,
        marks=[mark_x(here, width=None)],
        notes=[note(np.log10(here), 1, _("your sentence"), yref="paper", xanchor="left", xshift=4)],
    )


def blur_by_share(shares: np.ndarray, blur: np.ndarray, names: Sequence[str], share: float) -> Figure:
    """Blur of the single head by the share that it gives the first word. `blur`: (shares, H), stacked."""
    return chart(
        [
            line(shares, blur[:, h] / len(names), name, SERIES[h], width=1, stackgroup="missed", hover="%{y:.0%}")
            for h, name in enumerate(names)
        ],
        axis(_("weight on the first"), tickformat=".0%", showgrid=False),
        axis(_("signal lost"), tickformat=".0%", range=[0, 1]),
        height=320,
        marks=[mark_x(share, width=None)],
    )


def weights_by_head(
    text: np.ndarray, picture: np.ndarray, tokens: Sequence[str], pixels: np.ndarray, relative: bool = False
) -> Figure:
    """The weights of one query by head: on the words (H, K) as bars, on the patches (H, P) as squares on the picture.

    A square's area is its patch's weight. A filled patch means 1, or with `relative` the head's largest weight.
    `pixels` (height, width) are counts of ink or light.
    """
    names = [_("head {h}").format(h=h + 1) for h in range(len(text))]
    on_words = [
        _horizontal_bars(weights, name, SERIES[h], 4) for h, (weights, name) in enumerate(zip(text, names, strict=True))
    ]
    wholes = [float(weights.max()) if relative else 1.0 for weights in picture]
    return panels(
        [
            Panel(on_words, {"range": [0, 1], "tickformat": ".0%"}, _row_axis(tokens)),
            *(_patches(h + 2, weights, pixels, wholes[h]) for h, weights in enumerate(picture)),
        ],
        1 + len(names),
        spacing={"column_widths": [1.5] + [1] * len(names), "horizontal_spacing": 0.05},
        titles=[_("the words"), *names],
        titles_size=12,  # four heads side by side on a phone
        height=300,
        top=36,
        barmode="group",
        showlegend=len(names) > 1,
    ).update_layout(legend={"yref": "paper", "y": -0.12})


def _horizontal_bars(values: np.ndarray, name: str | None, colour: str, digits: int, **look: Any) -> Series:
    hover, indices = f"%{{y}}: %{{x:.{digits}f}}", list(range(len(values)))
    return bars(values, indices, name, colour, across=True, marker={"line": {"width": 0}}, hover=hover, **look)


def _row_axis(tokens: Sequence[str]) -> dict[str, Any]:
    return token_axis(tokens, autorange="reversed", **BARE)


def _patches(number: int, weights: np.ndarray, pixels: np.ndarray, full_weight: float) -> Panel:
    side = round(len(weights) ** 0.5)
    per = pixels.shape[0] // side
    row, col = np.indices((side, side)).reshape(2, -1)
    y, x = (patch_index * per + (per - 1) / 2 for patch_index in (row, col))
    half = per / 2 * np.sqrt(np.clip(weights / full_weight, 0, 1))
    # all squares are one shape: Plotly takes half a minute for 257 of them in four heads
    squares = "".join(
        f"M{Rounded(left):.5g},{Rounded(top):.5g}H{Rounded(right):.5g}V{Rounded(bottom):.5g}H{Rounded(left):.5g}Z"
        for left, top, right, bottom in zip(x - half, y - half, x + half, y + half, strict=True)
    )
    template = _("patch in row %{customdata[0]}, column %{customdata[1]}: %{customdata[2]:.4f}")
    ink = cells(pixels, [(0.0, "#23262d"), (1.0, "#9aa1ad")], hover="")
    light = {"type": "path", "path": squares, "fillcolor": GLOW, "line": {"width": 0}}
    hover = hover_points(x, y, np.stack([row + 1, col + 1, weights], -1), template, size=18)
    return Panel([ink, hover], *picture_axes(pixels.shape, number), [light])


def lengths_by_source(parts: Sequence[tuple[str, np.ndarray]], tokens: Sequence[str]) -> Figure:
    """Norms of each source's contribution to each word. `parts`: (name, norms (Q,))."""
    colours = (SERIES[0], GLOW, THEORY)
    return chart(
        [_horizontal_bars(lengths, name, colour, 3) for (name, lengths), colour in zip(parts, colours, strict=True)],
        axis(_("length of the vector"), rangemode="tozero"),
        _row_axis(tokens),
        height=int(np.clip(130 + 44 * len(tokens), 220, 460)),
        barmode="group",
    )
