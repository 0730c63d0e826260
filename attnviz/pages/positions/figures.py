"""What the page positions draws with: arrays in, a figure out."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attnviz.base.words import _
from attnviz.figures import heatmap
from attnviz.figures.attention_figures import GLOW, hover_points, picture_axes
from attnviz.figures.chart import (
    BARE,
    POWERS,
    THIN_BAR,
    Panel,
    axis,
    band,
    bars,
    cells,
    chart,
    line,
    mark_y,
    note,
    panels,
    points,
)
from attnviz.figures.theme import (
    ALTERNATIVE,
    MASKED,
    Q_BLUE,
    RAW,
    ROLES,
    SCALED,
    SERIES,
    SIGNED,
    THEORY,
    Figure,
    add_alpha,
)


def draw_named_level(y: float, name: str, colour: str, width: float) -> dict[str, Any]:
    """A dashed line at height `y` of a log axis, with its name: marks and notes of a chart."""
    style = {"font": {"size": 11, "color": colour}, "xanchor": "left", "yanchor": "bottom"}
    return {"marks": [mark_y(y, colour, width=width)], "notes": [note(0, float(np.log10(y)), name, **style)]}


def position_map(scores: np.ndarray) -> Figure:
    """Heatmap of scores (n, n): queries in rows, colours centred on 0."""
    names = [str(i) for i in range(len(scores))]
    return heatmap.matrix(
        scores,
        names,
        names,
        "scores",
        row_title=_("position of the query"),
        col_title=_("position of the key"),
        numbers=False,
        height=400,
        value_title=_("score"),
        labels_that_fit=9,
    )


def over_distance(
    distance: np.ndarray,
    mean: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    others: Sequence[tuple[str, np.ndarray]] = (),
    stairs: bool = False,
) -> Figure:
    """The score at each distance, with a band from lowest to highest; `others` are further heads, thin."""
    shape = "hvh" if stairs else "linear"
    series = [
        line(distance, y, width=1, colour=THEORY, shape=shape, opacity=0.55, showlegend=False, hover=format_hover(name))
        for name, y in others
    ]
    if float((high - low).max()) > 1e-9:
        series.append(band(distance, low, high, add_alpha(SCALED, 0.2), name=_("lowest to highest")))
    return chart(
        [*series, line(distance, mean, _("mean"), SCALED, shape=shape, hover=format_hover(""))],
        axis(_("distance: key minus query"), zeroline=False),
        axis(_("score")),
        height=330,
        here=0,
    )


def format_hover(name: str) -> str:
    """Hover text of a score over the distance."""
    return "%{x}: %{y:.4g}<extra>" + name + "</extra>"


def encoding(values: np.ndarray) -> Figure:
    """Heatmap of the vectors (n, D): positions in rows, dimensions in columns."""
    top, hover = float(np.abs(values).max()) or 1.0, _("position %{y}, dimension %{x}: %{z:.4f}")
    return chart(
        [cells(values.astype(np.float32), SIGNED, -top, top, bar=THIN_BAR | {"len": 0.9}, hover=hover)],
        axis(_("dimension"), **BARE),
        axis(_("position"), autorange="reversed", **BARE),
        height=330,
    )


def wavelengths(values: np.ndarray, n: int) -> Figure:
    """Positions that each pair takes for one turn, on a log axis, and the number of positions in the picture."""
    hover = _("pair %{x}: one turn in %{y:,.4g} positions")
    return chart(
        [line(np.arange(len(values)), values, None, SCALED, width=2, dots=5, showlegend=False, hover=hover)],
        axis(_("pair"), zeroline=False),
        axis(_("positions for one turn"), **POWERS),
        height=330,
        **draw_named_level(n, _("{n} positions").format(n=n), RAW, 1.5),
    )


def slopes(values: np.ndarray, head: int) -> Figure:
    """ALiBi's slope of every head, on a log axis; the chosen one stands out."""
    colours = [ALTERNATIVE if i == head else SCALED for i in range(len(values))]
    flat, hover = {"line": {"width": 0}}, _("head %{x}: %{y:.4g} for each position of distance")
    return chart(
        [bars(np.arange(len(values)), values, None, colours, marker=flat, hover=hover)],
        axis(_("head"), dtick=1 if len(values) <= 16 else 8),
        axis(_("slope"), **POWERS),
        height=330,
    )


# How much the outputs change when words change places, for every way in which positions come in.
FLOOR = 1e-17  #: drawn in place of an exact 0 on the log axis


def changes(kinds: Sequence[str], free: np.ndarray, causal: np.ndarray, rounding: float = 1e-9) -> Figure:
    """One row a kind: the largest change of an output without a mask, and with a causal one, on a log axis."""
    both = ((_("no mask"), free, SCALED, "circle"), (_("causal mask"), causal, RAW, "diamond"))
    style: dict[str, Any] = {"size": 12, "hover": "%{y}: %{customdata:.3g}"}
    return chart(
        [
            points(np.maximum(values, FLOOR), list(kinds), name, colour, symbol=symbol, customdata=values, **style)
            for name, values, colour, symbol in both
        ],
        axis(_("largest change of an output"), **POWERS | {"range": [-17.3, 1.6], "dtick": 4}),
        {"autorange": "reversed", "showgrid": True, "type": "category"},
        height=330,
        here=rounding,
    )


# Texts longer than trained: wavelengths under each scaling, and scores over distance.
def scaled_wavelengths(lines: Mapping[str, np.ndarray], chosen: str, trained: int, target: int) -> Figure:
    """Positions for one turn of each pair, one line for each scaling; `chosen` is bold."""
    hover = _("pair %{x}: one turn in %{y:,.4g} positions")
    bold: dict[str, Any] = {"width": 4, "dash": "solid"}
    fine: dict[str, Any] = {"width": 1.6, "dash": "dot"}
    before = draw_named_level(trained, _("trained on {n:,}").format(n=trained), THEORY, 1)
    after = draw_named_level(target, _("wanted: {n:,}").format(n=target), THEORY, 1)
    return chart(
        [
            line(np.arange(len(values)), values, name, colour, hover=hover, **(bold if name == chosen else fine))
            for (name, values), colour in zip(lines.items(), [THEORY, *SERIES], strict=False)
        ],
        axis(_("pair, the fastest first"), zeroline=False),
        axis(_("positions for one turn"), **POWERS),
        height=400,
        marks=before["marks"] + after["marks"],
        notes=before["notes"] + after["notes"],
    )


# How far back a head looks, before and after its rotation was changed.
def scaled_over_distance(
    distance: np.ndarray, plain: np.ndarray, chosen: np.ndarray, name: str, trained: int
) -> Figure:
    """q.k / sqrt(D) over distance, as trained and scaled. Beyond the trained length it is shaded."""
    last, hover = float(distance[-1]), "%{x:,}: %{y:.4g}"
    shade = {"type": "rect", "x0": trained, "x1": last, "y0": 0, "y1": 1, "yref": "y domain", "line": {"width": 0}}
    return chart(
        [
            line(distance, plain, _("as trained"), ROLES["reference"], width=1.6, hover=hover),
            line(distance, chosen, name, ROLES["changed"], width=2.2, hover=hover),
        ],
        axis(_("distance"), zeroline=False, range=[0, last]),
        axis(_("score")),
        height=400,
        marks=[shade | {"fillcolor": add_alpha(THEORY, 0.16)}],
    )


def tokens_back(before: np.ndarray, after: np.ndarray) -> Figure:
    """Mean weight by distance to the key, as trained and changed, side by side."""
    flat, hover = {"line": {"width": 0}}, _("%{x} tokens back: %{y:.1%}")
    return chart(
        [
            bars(np.arange(len(before)), before, _("as trained"), ROLES["reference"], marker=flat, hover=hover),
            bars(np.arange(len(after)), after, _("changed"), ROLES["changed"], marker=flat, hover=hover),
        ],
        axis(_("tokens back"), zeroline=False),
        axis(_("mean weight"), tickformat=".0%", range=[0, 1]),
        height=330,
        barmode="group",
    )


MOST_FRAMES = 8


def split_of_width(parts: Sequence[tuple[str, int]], left: int) -> Figure:
    """One bar: the numbers of a head that each of `parts` (name, width) rotates, and those that are left."""
    segments = [(name, width, SERIES[i]) for i, (name, width) in enumerate(parts)]
    segments += [(_("not rotated"), left, MASKED)] if left else []
    look: dict[str, Any] = {"textposition": "inside", "insidetextanchor": "middle", "marker": {"line": {"width": 0}}}
    hover = _("{name}: %{{x}} numbers") + "<extra></extra>"
    return chart(
        [
            bars([width], [""], name, colour, across=True, text=[f"{width}"], hover=hover.format(name=name), **look)
            for name, width, colour in segments
        ],
        axis(_("numbers of a head"), **BARE),
        height=180,
        barmode="stack",
        legend={"traceorder": "normal"},
    )


def video_wavelengths(lines: Sequence[tuple[str, np.ndarray, int]]) -> Figure:
    """For each axis (name, wavelengths, patches along it): patches for one turn, and how many patches there are."""
    hover = _("pair %{x}: one turn in %{y:,.4g} patches")
    return chart(
        [
            line(
                np.arange(len(values)),
                values,
                _("{axis}: {size} patches").format(axis=name, size=size),
                SERIES[i],
                width=2,
                dots=6,
                hover=f"{hover}<extra>{name}</extra>",
            )
            for i, (name, values, size) in enumerate(lines)
        ],
        axis(_("pair of that axis"), zeroline=False),
        axis(_("patches for one turn"), **POWERS),
        height=330,
        marks=[mark_y(size, SERIES[i]) for i, (_name, _values, size) in enumerate(lines)],
    )


def frame_scores(scores: np.ndarray, at: tuple[int, ...]) -> Figure:
    """Each frame's patches as a picture, all on one scale around the score of the query's own patch, which is marked.

    At most MOST_FRAMES, those around the query's.
    """
    own_score = float(scores[at])
    first = max(0, min(at[0] - MOST_FRAMES // 2, len(scores) - MOST_FRAMES))
    frame_range = range(first, min(len(scores), first + MOST_FRAMES))
    columns, top = min(4, len(frame_range)), float(np.abs(scores - own_score).max()) or 1.0
    bare: dict[str, Any] = BARE | {"showticklabels": False, "ticks": "", "constrain": "domain"}
    down = bare | {"autorange": "reversed", "constraintoward": "top"}
    hover = _("row %{y}, column %{x}: %{customdata:.4f}, %{z:.4f} from its own")
    mark: dict[str, Any] = {"size": 16, "symbol": "square-open", "marker": {"line": {"width": 3}}}
    query = points([at[2]], [at[1]], None, Q_BLUE, hover="", showlegend=False, **mark)
    bar = {
        "title": {"text": _("score, from its own"), "side": "bottom"},
        "thickness": 10,
        "outlinewidth": 0,
        "orientation": "h",
        "len": 0.5,
        "y": -0.05,
        "yanchor": "top",
    }
    return panels(
        [
            Panel(
                [
                    cells(
                        (scores[frame] - own_score).astype(np.float32),
                        None,
                        coloraxis="coloraxis",
                        customdata=scores[frame],
                        gap=1,
                        hover=hover,
                    ),
                    *([query] if frame == at[0] else []),
                ],
                bare | name_above(frame),
                down | {"scaleanchor": f"x{column + 1 if column else ''}"},
            )
            for column, frame in enumerate(frame_range)
        ],
        columns,
        spacing={"horizontal_spacing": 0.03, "vertical_spacing": 0.16},
        height=110 + 180 * -(-len(frame_range) // columns),
        coloraxis={"colorscale": SIGNED, "cmin": -top, "cmax": top, "colorbar": bar},
    ).update_layout(margin={"t": 30, "b": 70})


def name_above(frame: int) -> dict[str, Any]:
    """The number of a frame over its picture, wherever a narrow window leaves that."""
    return {"title": {"text": _("frame {n}").format(n=frame), "font": {"size": 14}, "standoff": 4}, "side": "top"}


def lit_frames(video: np.ndarray, row: np.ndarray, at: tuple[int, ...]) -> Figure:
    """`video` (frames, height, width) in counts, `row` (frames, rows, columns) the weights of the patch `at`.

    Full light is the largest weight; brightness is its square root. The patch that looks has a blue frame.
    """
    count, rows, columns = row.shape
    side, across = video.shape[1] / rows, 2 if count > 2 else count
    shares = np.sqrt(np.clip(row / max(float(row.max()), 1e-12), 0, 1))
    places = np.indices((rows, columns)).reshape(2, -1)
    y, x = places * side + (side - 1) / 2
    ink = [(0.0, "#1b1e24"), (1.0, "#777d88")]
    hover = _("row %{customdata[0]}, column %{customdata[1]}: %{customdata[2]:.4f}")
    parts = []
    for frame in range(count):
        shapes = []
        for patch, share in enumerate(shares[frame].ravel()):
            (left, right), (top, bottom) = ((c[patch] - side / 2, c[patch] + side / 2) for c in (x, y))
            box = {"type": "rect", "x0": left, "x1": right, "y0": top, "y1": bottom}
            shapes.append(box | {"fillcolor": GLOW, "opacity": round(0.85 * share, 3), "line": {"width": 0}})
            if (frame, *divmod(patch, columns)) == at:
                shapes.append(box | {"line": {"color": Q_BLUE, "width": 3}})
        hover_layer = hover_points(x, y, np.stack([*places, row[frame].ravel()], -1), hover, size=22)
        axes = picture_axes(video.shape[1:], frame + 1)
        layers = [cells(video[frame], ink, hover=""), hover_layer]
        parts.append(Panel(layers, axes[0] | name_above(frame), axes[1] | {"constraintoward": "top"}, shapes))
    return panels(
        parts,
        across,
        spacing={"horizontal_spacing": 0.04, "vertical_spacing": 0.12},
        height=60 + 160 * -(-count // across),
    ).update_layout(margin={"t": 30})
