"""Bars of softmax weights under sliders that the browser moves by itself; Python hears of it on release."""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

import numpy as np

from attnviz.base.words import _
from attnviz.canvas.shared.component import count, mount_component
from attnviz.canvas.shared.packing import fingerprint
from attnviz.core.attention import COLDEST
from attnviz.live import canvas_wording


@dataclass(frozen=True)
class Panel:
    """One row of bars: how weights are made from scores (an id of pages.scaling.maths.alternatives), and its words."""

    kind: str
    title: str
    formula: str
    colour: str


@dataclass(frozen=True)
class SliderParameter:
    """The number of an alternative: where its slider stands, and its ends. Log scale unless `linear`."""

    name: str
    value: float
    low: float
    high: float
    linear: bool = False


@dataclass(frozen=True, eq=False)
class SoftmaxFigure:
    """The bars for a file, at one `d_k`: the weights that `scores` (n,) give. None: the scores were typed in.

    For a film scores and cosines are (D, n), those at each of the `widths` (D,).
    """

    scene: ClassVar[str] = "bars"
    scores: np.ndarray
    panels: Sequence[Panel]
    d_k: int | None = None
    cosines: np.ndarray | None = None
    parameter: SliderParameter | None = None
    widths: Sequence[int] = ()

    @property
    def header(self) -> dict[str, Any]:
        """Header of the figure: that of the component, whether scores were typed in, and the widths of a film."""
        header = _header(self.d_k or 1, self.scores.shape[-1], self.panels, self.parameter)
        return header | {"title": "", "typed": self.d_k is None, "d_k": [int(d) for d in self.widths]}

    @property
    def payload(self) -> bytes:
        parts = [self.scores] if self.cosines is None else [self.scores, self.cosines]
        kind = "<f8" if self.d_k is None else "<f4"  # as the browser has them
        return b"".join(array.astype(kind).astype("<f8").tobytes() for array in parts)


@dataclass(frozen=True)
class Release:
    """Where the visitor let go."""

    d_k: int
    parameter: float


def softmax_slider(
    key: str,
    d_k: np.ndarray,
    scores: np.ndarray,
    panels: Sequence[Panel],
    *,
    at: int,
    cosines: np.ndarray | None = None,
    parameter: SliderParameter | None = None,
    about: str = "",
    on_pick: Callable[[Release], None],
) -> None:
    """Draw the weights that `scores` (len(d_k), n) give, at d_k = `at`, one of `d_k`.

    One d_k: no slider for it, and `scores` keep all their digits. `about` says what the parameter
    belongs to; a late answer about something else is dropped.
    """
    single = len(d_k) == 1
    widths = [int(d) for d in d_k]
    header = _header(widths.index(at), scores.shape[1], panels, parameter) | {
        "d_k": widths,
        "about": about,
        "value": parameter.value if parameter else 1.0,
        "scores": [float(s) for s in scores[0]] if single else None,
    }
    payload = b"" if single else scores.astype("<f4").tobytes()
    if cosines is not None:
        payload += cosines.astype("<f4").tobytes()
    header["layout"] = fingerprint(
        str(header["panels"]), str(header["words"]), parameter and replace(parameter, value=0.0), widths
    )

    def read_release(report: dict[str, Any]) -> Release | None:
        stop, number = count(report.get("at"), len(widths)), report.get("value")
        if report.get("about") != about or stop is None or not isinstance(number, int | float):
            return None
        if not math.isfinite(number):
            return None
        if parameter is not None:
            number = min(max(number, parameter.low), parameter.high)
        return Release(widths[stop], float(number))

    mount_component("softmax_slider", key, "stood", header, read_release, on_pick, payload)


def _header(at: int, n: int, panels: Sequence[Panel], parameter: SliderParameter | None) -> dict[str, Any]:
    """The header for the browser and for a file."""
    return {
        "n": n,
        "at": int(at),
        "panels": [asdict(panel) for panel in panels],
        "parameter": asdict(parameter) if parameter else None,
        "words": _texts(),
        "coldest": COLDEST,
        "colours": canvas_wording.scene_colours(),
    }


def _texts() -> dict[str, Any]:
    """Sentences of the picture; {names} are filled in by the browser."""
    return {
        "facts": [_("largest weight"), _("entropy, nats"), _("effective keys")],
        "step": "d_k",
        "play": _("Play"),
        "pause": _("Pause"),
        "bars": _("The bars: arrow keys move from key to key; the numbers stand below"),
        "film": _("Weights of one query while d_k grows"),
        "legend": _("One bar for each of {n} {n:key|keys}; dashed: even weights, {even}."),
        "rest": _("Point at a bar for its numbers."),
        "key": _("Key {key}:"),
        "point": _("{panel}: logit {logit}, weight {weight}"),
        "fact_of": _("{panel}: {fact}"),
        **canvas_wording.joining_text(),
    }
