"""A head's width shared among time, height and width of a video, and one patch's scores over all frames."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from attnviz.base.words import _
from attnviz.figures.attention_figures import GLOW, hover_points, picture_axes
from attnviz.figures.chart import BARE, POWERS, Panel, axis, bars, cells, chart, line, mark_y, panels, points
from attnviz.figures.theme import MASKED, Q_BLUE, SERIES, SIGNED, Figure

MOST_FRAMES = 8


def split(parts: Sequence[tuple[str, int]], left: int) -> Figure:
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


def wavelengths(lines: Sequence[tuple[str, np.ndarray, int]]) -> Figure:
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


def frames(scores: np.ndarray, at: tuple[int, ...]) -> Figure:
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
