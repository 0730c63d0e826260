"""Figures of the building page's lessons: before and after an edit, normalisers, mixing matrices, blur."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from attnviz.base.rounding import Rounded
from attnviz.base.words import _
from attnviz.figures.attention_figures import GLOW, hover_points, picture_axes, side_by_side, ticks
from attnviz.figures.heatmap import label
from attnviz.figures.theme import SCALED, SERIES, THEORY, Figure, layout
from attnviz.figures.title_lines import above


def before_and_after_order(
    before: np.ndarray, after: np.ndarray, words: Sequence[str], new_order: Sequence[str]
) -> Figure:
    """Weights over a sentence and, beside them, over its words in a new order; each picture has its own words."""
    fig = side_by_side([(_("attention"), before), (_("after the change"), after)], words, words)
    labels = [label(word, 8) for word in new_order]
    fig.update_xaxes(ticktext=labels, col=2, row=1)
    fig.update_yaxes(ticktext=labels, col=2, row=1)
    return fig


def sums(rows: np.ndarray, cols: np.ndarray, queries: Sequence[str], keys: Sequence[str]) -> Figure:
    """The sums of the rows of a weight matrix beside the sums of its columns, with a line at 1."""
    names = (_("row sums: given"), _("column sums: received"))
    fig = make_subplots(1, 2, subplot_titles=names, horizontal_spacing=0.12, shared_xaxes="all")
    top = 1.35 * max(1.0, float(rows.max(initial=0)), float(cols.max(initial=0)))
    for number, (values, words) in enumerate(((rows, queries), (cols, keys)), start=1):
        fig.add_bar(
            x=values,
            y=list(range(len(words))),
            orientation="h",
            marker={"color": SCALED if number == 1 else SERIES[3], "line_width": 0},
            text=[f"{Rounded(value):.2f}" for value in values] if len(words) <= 16 else None,
            textposition="outside",
            cliponaxis=False,
            showlegend=False,
            hovertemplate="%{y}: %{x:.4f}<extra></extra>",
            row=1,
            col=number,
        )
        fig.add_vline(x=1, line={"color": THEORY, "dash": "dash", "width": 1}, layer="below", row=1, col=number)
        fig.update_yaxes(**ticks(words), autorange="reversed", showgrid=False, row=1, col=number)
        fig.update_xaxes(range=[0, top], row=1, col=number)
    fig = layout(fig, height=int(np.clip(100 + 24 * max(len(queries), len(keys)), 160, 430)))
    return fig.update_layout(margin={"t": above(fig, 40)})


def normaliser_bars(weights: Mapping[str, np.ndarray], keys: Sequence[str]) -> Figure:
    """A panel of bars for each way of making weights from the same scores: title -> weights (K,)."""
    rows = -(-len(weights) // 2)  # two beside each other: on a phone three have no room for their numbers
    fig = make_subplots(rows, 2, subplot_titles=list(weights), horizontal_spacing=0.1, vertical_spacing=0.16)
    for i, (name, values) in enumerate(weights.items(), start=1):
        at = {"row": 1 + (i - 1) // 2, "col": 1 + (i - 1) % 2}
        fig.add_bar(
            x=list(range(len(keys))),
            y=values,
            marker={"color": SERIES[(i - 1) % len(SERIES)]},
            showlegend=False,
            hovertemplate="%{x}: %{y:.3f}<extra>" + name + "</extra>",
            text=[f"{Rounded(v):.2f}" for v in values],
            textposition="outside",
            cliponaxis=False,
            **at,
        )
        low, high = min(0.0, float(values.min())), max(1.0, float(values.max()))
        room = 0.18 * (high - low)
        fig.update_yaxes(range=[low - (room if low < 0 else 0), high + room], showgrid=False, zeroline=True, **at)
        fig.update_xaxes(**ticks(keys), showgrid=False, **at)
    fig = layout(fig, height=40 + 160 * rows)
    return fig.update_layout(margin={"t": above(fig, 36)}, bargap=0.25)


def growth(copies: Sequence[int], lines: Mapping[str, np.ndarray]) -> Figure:
    """Length of the output as the same keys are repeated; both axes logarithmic."""
    fig = go.Figure(
        [
            go.Scatter(
                x=list(copies),
                y=np.where(values > 0, values, np.nan),
                name=name,
                mode="lines+markers",
                line={
                    "color": SERIES[i % len(SERIES)],
                    "width": 3 if i == 0 else 2,
                    "dash": "solid" if i == 0 else "dot",
                },
            )
            for i, (name, values) in enumerate(lines.items())
        ],
        {
            "xaxis": {
                "type": "log",
                "tickvals": list(copies),
                "title_text": _("times each key is repeated"),
                "showgrid": False,
            },
            "yaxis": {"type": "log", "title_text": _("length of the output"), "dtick": 1},
        },
    )
    return layout(fig, height=320)


def parameter_curves(lengths: Sequence[int], attention: Sequence[int], mixing: Sequence[int], here: int) -> Figure:
    """How many numbers attention and a mixing matrix learn, by length of the sentence; `here` marks this sentence's."""
    fig = go.Figure(
        [
            go.Scatter(x=list(lengths), y=list(values), name=name, mode="lines+markers", line={"color": colour})
            for name, values, colour in (
                (_("attention"), attention, SCALED),
                (_("mixing matrix"), mixing, SERIES[1]),
            )
        ],
        {
            "xaxis": {"type": "log", "dtick": 1, "title_text": _("words in the sentence"), "showgrid": False},
            "yaxis": {"type": "log", "dtick": 1, "title_text": _("numbers to learn")},
        },
    )
    fig.add_vline(here, line={"color": THEORY, "dash": "dot"})
    fig.add_annotation(
        x=np.log10(here), y=1, yref="paper", text=_("your sentence"), showarrow=False, xanchor="left", xshift=4
    )
    return layout(fig, height=320)


def blur_by_share(shares: np.ndarray, blur: np.ndarray, names: Sequence[str], share: float) -> Figure:
    """Signal that the single head loses of each word, `blur` (shares, H) stacked, over how it divides its weight."""
    fig = go.Figure(
        [
            go.Scatter(
                x=shares,
                y=blur[:, h] / len(names),
                name=name,
                stackgroup="missed",
                mode="lines",
                line={"color": SERIES[h], "width": 1},
                hovertemplate="%{y:.0%}<extra>" + name + "</extra>",
            )
            for h, name in enumerate(names)
        ],
        {
            "xaxis": {"tickformat": ".0%", "title_text": _("weight on the first"), "showgrid": False},
            "yaxis": {"tickformat": ".0%", "range": [0, 1], "title_text": _("signal lost")},
        },
    )
    return layout(fig.add_vline(share, line={"color": THEORY, "dash": "dot"}), height=320)


def looks(
    text: np.ndarray, picture: np.ndarray, words: Sequence[str], pixels: np.ndarray, relative: bool = False
) -> Figure:
    """The weights of one query by head: on the words (H, K) as bars, on the patches (H, P) as squares on the picture.

    A square's area is its patch's weight: a whole patch is all of it; with `relative` the largest of its head.
    `pixels` (height, width) are counts of ink or light.
    """
    names = [_("head {h}").format(h=h + 1) for h in range(len(text))]
    titles, widths = [_("the words"), *names], [1.5] + [1] * len(names)
    fig = make_subplots(1, len(titles), subplot_titles=titles, column_widths=widths, horizontal_spacing=0.05)
    for h, name in enumerate(names):
        fig.add_trace(_across(text[h], name, SERIES[h], 4), 1, 1)
        _patches(fig, h + 2, picture[h], pixels, float(picture[h].max()) if relative else 1.0)
    fig.update_xaxes(range=[0, 1], tickformat=".0%", row=1, col=1)
    fig.update_yaxes(**_downwards(words), row=1, col=1)
    fig.update_annotations(font_size=12)  # four heads side by side on a phone
    fig = layout(fig, height=300)
    return fig.update_layout(
        margin={"t": above(fig, 36)},
        barmode="group",
        legend={"yref": "paper", "y": -0.12},
        showlegend=len(names) > 1,
    )


def _across(values: np.ndarray, name: str, colour: str, digits: int) -> go.Bar:
    return go.Bar(
        x=values,
        y=list(range(len(values))),
        orientation="h",
        name=name,
        marker={"color": colour, "line_width": 0},
        hovertemplate=f"%{{y}}: %{{x:.{digits}f}}<extra>{name}</extra>",
    )


def _downwards(words: Sequence[str]) -> dict[str, object]:
    ticks = {"tickmode": "array", "tickvals": list(range(len(words))), "ticktext": [label(word) for word in words]}
    return ticks | {"autorange": "reversed", "showgrid": False, "zeroline": False}


def _patches(fig: Figure, column: int, weights: np.ndarray, pixels: np.ndarray, whole: float) -> None:
    ink = go.Heatmap(z=pixels, colorscale=[(0.0, "#23262d"), (1.0, "#9aa1ad")], showscale=False, hoverinfo="skip")
    fig.add_trace(ink, 1, column)
    side = round(len(weights) ** 0.5)
    per = pixels.shape[0] // side
    row, col = np.indices((side, side)).reshape(2, -1)
    y, x = (place * per + (per - 1) / 2 for place in (row, col))
    half = per / 2 * np.sqrt(np.clip(weights / whole, 0, 1))
    # all squares are one shape: Plotly takes half a minute for 257 of them in four heads
    squares = "".join(
        f"M{Rounded(left):.5g},{Rounded(top):.5g}H{Rounded(right):.5g}V{Rounded(bottom):.5g}H{Rounded(left):.5g}Z"
        for left, top, right, bottom in zip(x - half, y - half, x + half, y + half, strict=True)
    )
    fig.add_shape(type="path", path=squares, fillcolor=GLOW, line_width=0, row=1, col=column)
    template = _("patch in row %{customdata[0]}, column %{customdata[1]}: %{customdata[2]:.4f}")
    fig.add_trace(hover_points(x, y, np.stack([row + 1, col + 1, weights], -1), template, size=18), 1, column)
    picture_axes(fig, pixels.shape, column, {"row": 1, "col": column})


def brought(parts: Sequence[tuple[str, np.ndarray]], words: Sequence[str]) -> Figure:
    """How long the vectors are that each source brings to each word: `parts` are (name, lengths (Q,))."""
    colours = (SERIES[0], GLOW, "#7F7F7F")
    fig = go.Figure(
        [_across(lengths, name, colour, 3) for (name, lengths), colour in zip(parts, colours, strict=True)],
        {
            "barmode": "group",
            "xaxis": {"title_text": _("length of the vector"), "rangemode": "tozero"},
            "yaxis": _downwards(words),
        },
    )
    return layout(fig, height=int(np.clip(130 + 44 * len(words), 220, 460)))
