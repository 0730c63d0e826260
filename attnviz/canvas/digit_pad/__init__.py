"""Fields to draw digits in: bitmaps of 32 x 32, as the data set of the digit models had them before it counted."""

import base64
import binascii
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.base.packed import unpack_bits
from attnviz.base.words import _
from attnviz.canvas.shared.gestures import answering, reported
from attnviz.canvas.shared.packing import blob
from attnviz.canvas.shared.registration import component

SIDE = 32
LETTERS = 4 * -(-SIDE * SIDE // 8 // 3)  #: of a drawing in base64


def digit_pad(key: str, pads: int, drawings: Sequence[str], on_change: Callable[[tuple[str, ...]], None]) -> None:
    """Draw `pads` fields with these drawings (bits in base64, "" = empty); `on_change` runs when a stroke has ended."""

    def drawn() -> None:
        found = read_drawings(reported(key, "drawn").get("drawings"))
        if found is not None:
            on_change(found)

    header: dict[str, Any] = {
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
    } | answering(reported(key, "drawn").get("seq"))
    component("digit_pad")(key=key, data=blob(header), on_drawn_change=drawn)


def read_drawings(told: object) -> tuple[str, ...] | None:
    """Drawings as the browser sent them or a link holds them; None where one is none."""
    if not isinstance(told, list | tuple) or len(told) > 3 or any(bitmap(each) is None for each in told):
        return None
    return tuple(told)


def bitmap(drawing: object) -> NDArray[np.bool_] | None:
    """(32, 32), True where there is ink."""
    if drawing == "":
        return np.zeros((SIDE, SIDE), bool)
    if not isinstance(drawing, str) or len(drawing) != LETTERS:
        return None
    try:
        return unpack_bits(base64.b64decode(drawing, validate=True), (SIDE, SIDE))
    except (ValueError, binascii.Error):
        return None
