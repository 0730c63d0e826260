"""RoPE's rotation of one pair on a circle, which the browser turns by itself; Python hears of it on release."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from attnviz.base.words import _
from attnviz.canvas.shared.component import count, mount_component
from attnviz.canvas.shared.packing import fingerprint
from attnviz.live import canvas_wording


@dataclass(frozen=True)
class RotationPlace:
    """The pair on show, and where query and key stand."""

    pair: int
    q_at: int
    k_at: int


@dataclass(frozen=True)
class RotationFigure:
    """Pairs of `q` and `k` (pairs, 2), each turned by its position times `turns` (pairs,) radians; one is on show."""

    scene: ClassVar[str] = "rotation"
    payload: ClassVar[bytes] = b""
    turns: np.ndarray
    q: np.ndarray
    k: np.ndarray
    at: RotationPlace

    @property
    def header(self) -> dict[str, Any]:
        return {
            "turns": self.turns.tolist(),
            "q": self.q.tolist(),
            "k": self.k.tolist(),
            "at": asdict(self.at),
            "title": "",
            "colours": canvas_wording.scene_colours(),
            "words": _texts(),
        }


def rotation_circle(key: str, figure: RotationFigure, *, last: int, on_pick: Callable[[RotationPlace], None]) -> None:
    """Draw the pair on show, with sliders for positions from 0 to `last`.

    `on_pick` runs before the rerun that follows a gesture.
    """
    pairs, header = len(figure.turns), figure.header
    header |= {"last": last, "layout": fingerprint(str(header["words"]), pairs, last)}
    limits = {"pair": pairs, "q_at": last + 1, "k_at": last + 1}

    def read_release(report: dict[str, Any]) -> RotationPlace | None:
        position = report.get("at")
        if not isinstance(position, dict):
            return None
        pair, q_at, k_at = (count(position.get(name), many) for name, many in limits.items())
        return None if pair is None or q_at is None or k_at is None else RotationPlace(pair, q_at, k_at)

    mount_component("rotation_circle", key, "stood", header, read_release, on_pick)


def _texts() -> dict[str, str]:
    """Sentences of the picture; {names} are filled in by the browser."""
    return {
        "pair": _("pair"),
        "q_at": _("query’s position"),
        "k_at": _("key’s position"),
        "together": _("move both together"),
        "walk": _("Move both along, the same distance apart"),
        "pause": _("Pause"),
        "q_turned": _("q has turned by"),
        "k_turned": _("k has turned by"),
        "angle": _("{degrees}° and {whole} × 360°"),
        "product": _("this pair’s part of q·k"),
        "score": _("q·k over all pairs"),
        "curve": _("This pair’s part of q·k, over the distance from query to key"),
        "degrees": _("{degrees}°"),
        "before": _(
            "Pair {pair} makes a full turn in {wavelength} positions. The key stands {distance} positions before the "
            "query: that alone turns one against the other by {between}°, wherever the two stand."
        ),
        "after": _(
            "Pair {pair} makes a full turn in {wavelength} positions. The key stands {distance} positions after the "
            "query: that alone turns one against the other by {between}°, wherever the two stand."
        ),
        "beside": _(
            "Pair {pair} makes a full turn in {wavelength} positions. Query and key stand at one position: however far "
            "it turns them, the angle between the two is the one they began with."
        ),
    } | canvas_wording.joining_text()
