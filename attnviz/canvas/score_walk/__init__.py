"""Products q·k that spread as d_k grows, the softmax that they feed, and what it lets through: d_k is dragged."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from attnviz.base.words import _
from attnviz.canvas.shared.component import count, mount_component
from attnviz.figures.theme import RAW, SCALED
from attnviz.live import canvas_wording


@dataclass(frozen=True, eq=False)
class ScoreWalkFigure:
    """The picture at place `at` of `d_k`, for the page and for files; `scores` (grid, n) are raw products.

    `medians`: the d_k that many rows were measured at, how many rows, and the medians of the Jacobian's norm, raw and
    scaled.
    """

    scene: ClassVar[str] = "walk"
    d_k: np.ndarray
    scores: np.ndarray
    at: int
    medians: tuple[np.ndarray, int, np.ndarray, np.ndarray]
    title: str = ""

    @property
    def header(self) -> dict[str, Any]:
        d_k, rows, *middles = self.medians
        return {
            "medians": {"d_k": d_k.tolist(), "rows": rows, "middles": [middle.tolist() for middle in middles]},
            "d_k": [int(d) for d in self.d_k],
            "n": self.scores.shape[1],
            "at": self.at,
            "title": self.title,
            "pair": [RAW, SCALED],
            "colours": canvas_wording.scene_colours(),
            "words": _texts(),
        }

    @property
    def payload(self) -> bytes:
        return self.scores.astype("<f4").tobytes()


def score_walk(key: str, figure: ScoreWalkFigure, *, on_release: Callable[[int], None]) -> None:
    """Draw the picture; `on_release` receives the place of d_k at which the visitor let go."""
    mount_component(
        "score_walk",
        key,
        "stood",
        figure.header,
        lambda report: count(report.get("at"), len(figure.d_k)),
        on_release,
        figure.payload,
    )


def _texts() -> dict[str, Any]:
    """Words of the picture; {names} are filled in by the browser."""
    return {
        "step": _("d_k, the width of a query"),
        "play": _("Play"),
        "pause": _("Pause"),
        "walks": _("q·k adds d_k numbers, one line a key"),
        "softmax": ["softmax(q·k)", "softmax(q·k/√d_k)"],
        "slope": _("What softmax lets through: bold, the median of {rows} rows"),
        "norms": [_("raw: {norm}"), _("scaled: {norm}")],
        "drawn": _("{drawn} of {n} keys are drawn"),
        "film": _("From products that spread to a gradient that dries up"),
        "heard": _(
            "d_k = {d_k}: the largest weight is {raw} raw and {scaled} scaled; softmax lets through {norm_raw} and "
            "{norm_scaled}."
        ),
    }
