"""Fields to draw digits in: bitmaps of 32 x 32, as the data set of the digit models had them before it counted."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from attnviz.base.words import _
from attnviz.canvas.shared.component import mount_component
from attnviz.canvas.shared.packing import parse_bits

SIDE = 32


def digit_pad(key: str, pads: int, drawings: Sequence[str], on_change: Callable[[tuple[str, ...]], None]) -> None:
    """Draw `pads` fields with these drawings (bits in base64, "" = empty); `on_change` runs when a stroke has ended."""
    header = {
        "pads": pads,
        "drawings": list(drawings),
        "labels": {
            "pad": _("Digit {number}: draw it with mouse, pen or finger, or by arrow keys; Space sets the pen down"),
            "lifted": _("Pen lifted: row {row}, column {column}"),
            "drawing": _("Pen draws: row {row}, column {column}"),
            "clear": _("Clear"),
            "help": _("Draw large. The drawing is made as high as the field, as the data set's own digits are."),
            "seen": _("What the model sees"),
        },
    }
    mount_component("digit_pad", key, "drawn", header, lambda report: read_drawings(report.get("drawings")), on_change)


def read_drawings(drawings: object) -> tuple[str, ...] | None:
    """Drawings as the browser sent them or a link holds them; None where one is none."""
    if (
        not isinstance(drawings, list | tuple)
        or len(drawings) > 3
        or any(unpack_bitmap(drawing) is None for drawing in drawings)
    ):
        return None
    return tuple(drawings)


def unpack_bitmap(drawing: object) -> NDArray[np.bool_] | None:
    """(32, 32), True where there is ink."""
    return np.zeros((SIDE, SIDE), bool) if drawing == "" else parse_bits(drawing, (SIDE, SIDE))
