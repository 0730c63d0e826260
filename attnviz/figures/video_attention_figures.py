"""Where one patch of a small video looks: every frame with the weights as light over it."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from attnviz.figures.patch_light import GLOW, hover_points, picture_axes
from attnviz.figures.positions_video import name_above
from attnviz.figures.theme import Q_BLUE, Figure, layout
from attnviz.words import _


def lit_frames(video: np.ndarray, row: np.ndarray, at: tuple[int, int, int]) -> Figure:
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
    for frame in range(frames):
        place = {"row": frame // across + 1, "col": frame % across + 1}
        ink = go.Heatmap(
            z=video[frame], colorscale=[(0.0, "#1b1e24"), (1.0, "#777d88")], showscale=False, hoverinfo="skip"
        )
        fig.add_trace(ink, **place)
        for patch, share in enumerate(shares[frame].ravel()):
            box = {"x0": x[patch] - side / 2, "x1": x[patch] + side / 2, "y0": y[patch] - side / 2}
            box |= {"y1": y[patch] + side / 2}
            fig.add_shape(type="rect", **box, fillcolor=GLOW, opacity=round(0.85 * share, 3), line_width=0, **place)
            if (frame, *divmod(patch, columns)) == at:
                fig.add_shape(type="rect", **box, line={"color": Q_BLUE, "width": 3}, **place)
        told = np.stack([*(each.ravel() for each in np.indices((rows, columns))), row[frame].ravel()], -1)
        says = _("row %{customdata[0]}, column %{customdata[1]}: %{customdata[2]:.4f}")
        fig.add_trace(hover_points(x, y, told, says, size=22), **place)
        picture_axes(fig, video.shape[1:], frame + 1, place)
        name_above(fig, frame, **place)
    fig.update_yaxes(constraintoward="top")
    return layout(fig, height=60 + 200 * down).update_layout(margin={"t": 30})
