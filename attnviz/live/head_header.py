"""The header of a head: the JSON that every canvas, live file, site and figure draws it from, written here alone."""

from collections.abc import Sequence
from typing import Any

from attnviz.base.head_edit import HeadEdit
from attnviz.base.head_record import ColourScale, HeadChannel, HeadData, HeadFacts, HeadGrid, HeadView, Pins
from attnviz.base.packed import fingerprint
from attnviz.base.record_json import to_json
from attnviz.base.words import current_language
from attnviz.live import canvas_wording

NO_CHANNEL = HeadChannel()
#: what `HeadFacts.look` is a name for
LOOK = ("kind", "full_range", "fixed_top", "root", "compact", "chips", "lines", "segments", "unit")


def name_tokens(rows: Sequence[str], cols: Sequence[str] | None) -> str:
    """A short name for the tokens."""
    return fingerprint(tuple(rows), None if cols is None else tuple(cols))


def name_pins(pins: Pins | None) -> str:
    """A short name for what is pinned; "" where nothing ever was."""
    return "" if pins is None else fingerprint(to_json(pins))


def head_header(
    data: HeadData,
    view: HeadView,
    edit: HeadEdit | None = None,
    channel: HeadChannel = NO_CHANNEL,
    largest: float | None = None,
) -> dict[str, Any]:
    """The header of a head as `view` displays it. The writer of the payload adds what that holds.

    `largest` is the largest value, of several heads on one scale; None: this head's own.
    """
    rows, cols = view.labels(data)
    shape = len(rows), len(rows if cols is None else cols)
    if view.arrangement is None and data.scores.shape != shape:
        raise ValueError(f"values of shape {data.scores.shape} do not fit {shape[0]} queries and {shape[1]} keys")
    bounded = view.kind in ("weights", "diff")
    if largest is None:
        largest = 1.0 if data.exact else data.largest  # of an exact one JavaScript finds it
    facts = HeadFacts(
        rows,
        cols,
        shape,
        view.signed,
        max(largest, 1.0) if bounded else largest or 1.0,
        ColourScale(view.fixed_top or (1.0 if bounded and view.full_range else largest) or 1.0, view.root),
        name_tokens(rows, cols),
        fingerprint(*(getattr(view, name) for name in LOOK), current_language()),
        name_pins(view.pins),
        edit,
        "" if edit is None else fingerprint(to_json(edit)),
    )
    header = to_json(view) | to_json(channel) | to_json(facts)
    header |= {"unit": view.unit or canvas_wording.default_unit(view.kind), "colours": canvas_wording.scene_colours()}
    if view.compact:
        header |= {"chips": False, "lines": False}
    texts = canvas_wording.figure_text() | canvas_wording.head_text()
    texts |= {} if edit is None else canvas_wording.edit_text()
    return header | {"words": texts}


def grid_header(
    grid: HeadGrid, shape: Sequence[int] = (0, 0), tokens_q: Sequence[str] = (), tokens_k: Sequence[str] | None = None
) -> dict[str, Any]:
    """The header of all heads of a stack, whose tiles are of this shape."""
    return to_json(grid) | {
        "shape": list(shape),
        "q": [str(token) for token in tokens_q],
        "k": None if tokens_k is None else [str(token) for token in tokens_k],
        "scale": to_json(ColourScale(1.0, grid.root)),
        "unit": canvas_wording.default_unit("weights"),
        "colours": canvas_wording.scene_colours(),
        "words": canvas_wording.overview_text(),
    }
