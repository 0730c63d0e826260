"""A head's width shared among time, height and width of a video, and one patch's scores over all frames."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from attnviz.base.words import _
from attnviz.figures.attention_figures import GLOW, hover_points, picture_axes
from attnviz.figures.theme import MASKED, Q_BLUE, SERIES, SIGNED, Figure, layout
from attnviz.figures.title_lines import below
from attnviz.pages.positions.figures.scores import POWERS

MOST_FRAMES = 8


def split(parts: Sequence[tuple[str, int]], left: int) -> Figure:
    """One bar: the numbers of a head that each of `parts` (name, width) rotates, and those that are left."""
    shown = [(name, width, SERIES[i]) for i, (name, width) in enumerate(parts)]
    shown += [(_("not rotated"), left, MASKED)] if left else []
    bars = [
        go.Bar(
            x=[width],
            y=[""],
            orientation="h",
            name=name,
            marker={"color": colour, "line": {"width": 0}},
            text=[f"{width}"],
            textposition="inside",
            insidetextanchor="middle",
            hovertemplate=_("{name}: %{{x}} numbers").format(name=name) + "<extra></extra>",
        )
        for name, width, colour in shown
    ]
    look = {
        "barmode": "stack",
        "legend": {"traceorder": "normal"},
        "xaxis": {"title_text": _("numbers of a head"), "showgrid": False, "zeroline": False},
    }
    return layout(go.Figure(bars, look), height=180)


def wavelengths(lines: Sequence[tuple[str, np.ndarray, int]]) -> Figure:
    """For each axis (name, wavelengths, patches along it): patches for one turn, and how many patches there are."""
    fig = go.Figure(
        layout={
            "xaxis": {"title_text": _("pair of that axis"), "zeroline": False},
            "yaxis": POWERS | {"title_text": _("patches for one turn")},
        }
    )
    for i, (name, values, size) in enumerate(lines):
        fig.add_scatter(
            x=np.arange(len(values)),
            y=values,
            mode="lines+markers",
            name=_("{axis}: {size} patches").format(axis=name, size=size),
            line={"color": SERIES[i], "width": 2},
            marker={"size": 6},
            hovertemplate=_("pair %{x}: one turn in %{y:,.4g} patches") + f"<extra>{name}</extra>",
        )
        fig.add_hline(y=size, line={"color": SERIES[i], "dash": "dash", "width": 1})
    return layout(fig, height=330).update_layout(legend=below())


def frames(scores: np.ndarray, at: tuple[int, ...]) -> Figure:
    """Each frame's patches as a picture, all on one scale around the score of the query's own patch, which is marked.

    At most MOST_FRAMES, those around the query's.
    """
    own = float(scores[at])
    first = max(0, min(at[0] - MOST_FRAMES // 2, len(scores) - MOST_FRAMES))
    shown = range(first, min(len(scores), first + MOST_FRAMES))
    columns = min(4, len(shown))
    rows = -(-len(shown) // columns)
    fig = make_subplots(rows, columns, horizontal_spacing=0.03, vertical_spacing=0.16)
    for place, frame in enumerate(shown):
        where = {"row": place // columns + 1, "col": place % columns + 1}
        fig.add_heatmap(
            z=(scores[frame] - own).astype(np.float32),
            customdata=scores[frame],
            coloraxis="coloraxis",
            xgap=1,
            ygap=1,
            hovertemplate=_("row %{y}, column %{x}: %{customdata:.4f}, %{z:.4f} from its own") + "<extra></extra>",
            **where,
        )
        fig.update_yaxes(autorange="reversed", scaleanchor=f"x{place + 1 if place else ''}", **where)
        name_above(fig, frame, **where)
        if frame == at[0]:
            mark = {"symbol": "square-open", "size": 16, "color": Q_BLUE, "line": {"width": 3}}
            fig.add_scatter(
                x=[at[2]], y=[at[1]], mode="markers", marker=mark, showlegend=False, hoverinfo="skip", **where
            )
    top = float(np.abs(scores - own).max()) or 1.0
    fig.update_layout(
        coloraxis={
            "colorscale": SIGNED,
            "cmin": -top,
            "cmax": top,
            "cmid": 0,
            "colorbar": {
                "title": {"text": _("score, from its own"), "side": "bottom"},
                "thickness": 10,
                "outlinewidth": 0,
                "orientation": "h",
                "len": 0.5,
                "y": -0.05,
                "yanchor": "top",
            },
        }
    )
    fig.update_xaxes(showgrid=False, zeroline=False, showticklabels=False, ticks="", constrain="domain")
    fig.update_yaxes(
        showgrid=False, zeroline=False, showticklabels=False, ticks="", constrain="domain", constraintoward="top"
    )
    return layout(fig, height=110 + 180 * rows).update_layout(margin={"t": 30, "b": 70})


def name_above(fig: Figure, frame: int, **place: int) -> None:
    """The number of a frame over its picture, wherever a narrow window leaves that."""
    title = {"text": _("frame {n}").format(n=frame), "font": {"size": 14}, "standoff": 4}
    fig.update_xaxes(title=title, side="top", **place)


def lit_frames(video: np.ndarray, row: np.ndarray, at: tuple[int, ...]) -> Figure:
    """`video` (frames, height, width) in counts, `row` (frames, rows, columns) the weights of the patch `at`.

    Full light is the largest weight; brightness is its square root. The patch that looks has a blue frame.
    """
    frames, rows, columns = row.shape
    side = video.shape[1] / rows
    across = 2 if frames > 2 else frames
    down = -(-frames // across)
    fig = make_subplots(down, across, horizontal_spacing=0.04, vertical_spacing=0.12)
    shares = np.sqrt(np.clip(row / max(float(row.max()), 1e-12), 0, 1))
    y, x = (each.ravel() * side + (side - 1) / 2 for each in np.indices((rows, columns)))
    ink = [(0.0, "#1b1e24"), (1.0, "#777d88")]
    for frame in range(frames):
        place = {"row": frame // across + 1, "col": frame % across + 1}
        fig.add_heatmap(z=video[frame], colorscale=ink, showscale=False, hoverinfo="skip", **place)
        for patch, share in enumerate(shares[frame].ravel()):
            (left, right), (top, bottom) = ((c[patch] - side / 2, c[patch] + side / 2) for c in (x, y))
            box = {"x0": left, "x1": right, "y0": top, "y1": bottom}
            fig.add_shape(type="rect", **box, fillcolor=GLOW, opacity=round(0.85 * share, 3), line_width=0, **place)
            if (frame, *divmod(patch, columns)) == at:
                fig.add_shape(type="rect", **box, line={"color": Q_BLUE, "width": 3}, **place)
        told = np.stack([*(each.ravel() for each in np.indices((rows, columns))), row[frame].ravel()], -1)
        says = _("row %{customdata[0]}, column %{customdata[1]}: %{customdata[2]:.4f}")
        fig.add_trace(hover_points(x, y, told, says, size=22), **place)
        picture_axes(fig, video.shape[1:], frame + 1, place)
        name_above(fig, frame, **place)
    fig.update_yaxes(constraintoward="top")
    return layout(fig, height=60 + 160 * down).update_layout(margin={"t": 30})
