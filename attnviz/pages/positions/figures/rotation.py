"""Rotation: one pair on its circle, wavelengths of longer contexts, a trained head."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from attnviz.base.words import _
from attnviz.figures.chart import POWERS, axis, bars, chart, line
from attnviz.figures.theme import ROLES, SERIES, THEORY, Figure, add_alpha
from attnviz.pages.positions.figures.scores import draw_named_level


# Texts longer than trained: wavelengths under each scaling, and scores over distance.
def wavelengths(lines: Mapping[str, np.ndarray], chosen: str, trained: int, target: int) -> Figure:
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
def over_distance(distance: np.ndarray, plain: np.ndarray, chosen: np.ndarray, name: str, trained: int) -> Figure:
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
