"""Heatmaps over tokens: weights, scores, or other numbers."""

import html
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from attnviz.base.words import _
from attnviz.figures.chart import BAR_BELOW, BARE, Series, axis, cells, chart
from attnviz.figures.theme import MASKED, SIGNED, WEIGHTS, Figure, colour_at

ColourScaleKind = Literal["weights", "scores", "plain"]
LABELS_THAT_FIT = 40


def escape_markup(text: str) -> str:
    """Escape a text, so that Plotly shows markup as typed."""
    return html.escape(text, quote=False)


def label(token: str, longest: int = 14) -> str:
    """Tick label of a token: shortened in the middle, escaped, and never invisible."""
    shortened = token if len(token) <= longest else token[: longest - 5] + "…" + token[-4:]
    return escape_markup(shortened) if shortened.strip() else "␣" * max(1, len(shortened))


def labels(tokens: Sequence[str], most: int, longest: int = 14) -> list[str]:
    """Tick labels of tokens; of more than `most`, only every n-th has one."""
    step = max(1, -(-len(tokens) // most))
    return ["" if i % step else label(token, longest) for i, token in enumerate(tokens)]


def token_axis(tokens: Sequence[str], most: int = 10_000, longest: int = 14, **options: Any) -> dict[str, Any]:
    """An axis of tokens by position; hovering shows tokens without a label."""
    return axis(labels=dict(enumerate(labels(tokens, most, longest))), **options)


def matrix(
    values: np.ndarray,
    rows: Sequence[str],
    cols: Sequence[str],
    kind: ColourScaleKind = "weights",
    masked: np.ndarray | None = None,
    row_title: str | None = None,
    col_title: str | None = None,
    numbers: bool | None = None,
    height: int | None = None,
    value_title: str | None = None,
    bar: bool = True,
    root: bool = False,
    labels_that_fit: int = LABELS_THAT_FIT,
    masked_name: str | None = None,
    top: float | None = None,
) -> Figure:
    """Heatmap of `values` (rows x cols), first row on top, tokens plotted by position.

    kind "weights": the sequential scale fixed at 0 to 1;
    "scores": diverging, centred on 0; "plain": sequential over the data. `masked` (boolean, same
    shape) are the cells that the mask hides: grey, on no scale. `numbers` writes the value into
    each cell (None: only where they fit). `root`: colours in square-root steps, so that small
    weights show. Long tokens are shortened, and of more than `labels_that_fit` only every n-th is
    written. `top`: weights are coloured from 0 to this instead of 1, and the bar says so.
    `masked_name` is what the legend calls grey cells, "" where the page tells it.
    """
    values = np.asarray(values, dtype=np.float64)
    hidden = np.zeros(values.shape, bool) if masked is None else np.asarray(masked, bool)
    hidden = hidden | ~np.isfinite(values)
    visible = np.where(hidden, np.nan, values)
    few = max(values.shape, default=0) <= 12
    weight = _("weight") if top is None else _("weight, colours from 0 to {top:.2g}").format(top=top)
    name = value_title or {"weights": weight, "scores": _("score"), "plain": _("value")}[kind]
    cell_options: dict[str, Any] = {
        "gap": 1 if few else 0,
        "texttemplate": "%{z:.2f}" if (few if numbers is None else numbers) else None,
        "bar": BAR_BELOW | {"title": {"text": name, "side": "top", "font": {"size": 12}}},
        "showscale": bar,
        "hover": "%{y} → %{x}<br><b>%{z:.4f}</b>",
    }
    size = 13 if few else 11 if len(rows) <= LABELS_THAT_FIT else 10
    across, down = (
        token_axis(tokens, labels_that_fit, title=title or None, size=12)
        | {"type": "linear", "ticks": "", "tickfont": {"size": size}, "constrain": "domain"}
        | BARE
        for tokens, title in ((cols, col_title), (rows, row_title))
    )
    fig = chart(
        [
            *([_grey_cells(hidden)] if hidden.any() else []),
            cells(
                visible.astype(np.float32),
                *_colour_range(kind, visible, root, top or 1.0),
                hoverongaps=False,
                **cell_options,
            ),
        ],
        across | {"side": "top", "autotickangles": [0, -60, -90], "constraintoward": "right"},
        down | {"autorange": "reversed", "scaleanchor": "x", "constraintoward": "top"},
        height=height or int(np.clip(90 + 26 * len(rows), 220, 620)),
    )
    if hidden.any() and masked_name != "":
        masked_legend(fig, masked_name or _("masked"))
    return fig


def _grey_cells(hidden: np.ndarray) -> Series:
    hover = "%{y} → %{x}<br>" + html.escape(_("hidden by the mask"))
    grey, ones = [(0, MASKED), (1, MASKED)], np.where(hidden, 1.0, np.nan).astype(np.float32)
    return cells(ones, grey, 0, 1, opacity=0.45, hover=hover, hoverongaps=False)


def masked_legend(fig: Figure, name: str) -> None:
    """Add a legend for grey cells under the lower left corner of the (first) matrix."""
    fig.add_annotation(
        text=f'<span style="color:{MASKED}">■</span> ' + html.escape(name),  # untranslated: markup
        x=0,
        y=0,
        xref="x domain",
        yref="y domain",
        xanchor="left",
        yanchor="top",
        yshift=-4,
        showarrow=False,
        font={"size": 12},
    )
    fig.update_layout(margin={"b": 28})


def _colour_range(kind: ColourScaleKind, values: np.ndarray, root: bool, top: float) -> tuple[Any, float, float]:
    """Colour scale, and the values of its first and last colour."""
    if kind == "weights":
        return square_root_scale(WEIGHTS) if root else WEIGHTS, 0, top
    finite = values[np.isfinite(values)]
    if kind == "scores":
        most = float(np.abs(finite).max(initial=0.0)) or 1.0
        return SIGNED, -most, most
    return WEIGHTS, float(finite.min()) if finite.size else 0.0, float(finite.max()) if finite.size else 1.0


def square_root_scale(scale: list[tuple[float, str]], steps: int = 40) -> list[tuple[float, str]]:
    """Colour scale with square-root steps: 0.25 gets the colour that 0.5 had."""
    return [(float(position**2), colour_at(scale, position)) for position in np.linspace(0, 1, steps + 1)]
