"""What a visitor can choose on the start page."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from attnviz.app.links import link_state
from attnviz.app.links.choices import Choice, PageChoices, pack_bits, record_reader
from attnviz.base.head_edit import LARGEST_FACTOR, LONGEST_WINDOW, MASKS, SCALES, VIEWS, HeadEdit
from attnviz.base.head_record import Pin, Pins
from attnviz.base.words import N_

EXAMPLE = "The animal didn't cross the street because it was too tired."
CHINESE = "动物没有过马路，因为它太累了。"  #: the same sentence, for whom a button offers it
MOST_KEYS = 400


_keys = record_reader(
    tuple[int, ...], lambda keys: len(keys) <= MOST_KEYS and all(0 <= key < MOST_KEYS for key in keys)
)


@dataclass(frozen=True)
class DescribedToken:
    """The token that the picture describes: a row, a column, or one cell of a row.

    `label` is its text: in an edited sentence the same index may be another token. `column` None: the whole row.
    """

    side: Literal["q", "k"]
    index: int
    label: str
    column: int | None = None


def _parse_token(value: Any) -> DescribedToken:
    side, index, label, *column = value
    if side not in ("q", "k") or not isinstance(label, str) or len(label) > MOST_KEYS or len(column) > 1:
        raise ValueError(value)
    _keys([index, *column])
    return DescribedToken(side, index, label, *column)


def _token_to_list(token: DescribedToken | None) -> list[Any] | None:
    if token is None:
        return None
    return [token.side, token.index, token.label, *([] if token.column is None else [token.column])]


PAGE = PageChoices("home")
SENTENCE = PAGE.sentence("sentence", EXAMPLE, longest=400, label=N_("Sentence"))
CAUSAL = PAGE.flag("causal", True, label=N_("Mask"))  #: False: no mask
SCALED = PAGE.flag("scaled", True, label=N_("Scale"))  #: False: no scaling
MASK = PAGE.one_of(
    "start_mask", [mask for mask in MASKS if mask != "none"], label=N_("Mask")
)  #: where CAUSAL is not False
WINDOW = PAGE.integer("start_window", 4, low=1, high=LONGEST_WINDOW, label=N_("Width of the window"))
SCALE = PAGE.one_of(
    "start_scale", [scale for scale in SCALES if scale != "none"], label=N_("Scale")
)  #: where SCALED is not False
FACTOR = PAGE.real("start_factor", 1.0, low=0.0, high=LARGEST_FACTOR, label=N_("Scale × the model’s"))
SEEN = PAGE.one_of("start_seen", VIEWS, "after", label=N_("Before, after or difference"))
PAINTED: Choice[str | None] = PAGE.on_canvas(
    "start_painted",
    None,
    pack_bits,
    lambda bits: bits,
    "gA==",
    inside="start",
    short="mask",
    label=N_("Painted mask"),
)
HIDDEN: Choice[tuple[int, ...]] = PAGE.on_canvas(
    "start_hide", (), _keys, list, (1,), inside="start", short="hide", label=N_("Hidden tokens")
)
DESCRIBED_TOKEN: Choice[DescribedToken | None] = PAGE.on_canvas(
    "start_told",
    None,
    _parse_token,
    _token_to_list,
    DescribedToken("k", 1, " animal"),
    inside="start",
    short="told",
    label=N_("Pinned tokens"),
)


def current_pin(tokens: Sequence[str], first: int) -> Pins:
    """Pins of the link for these tokens; the row `first` if it has none, or one of another text."""
    token, n = link_state.value(DESCRIBED_TOKEN), len(tokens)
    if token is None or token.index >= n or tokens[token.index] != token.label:
        return Pins((Pin("q", first),))
    cell = None if token.column is None or token.column >= n or token.side == "k" else (token.index, token.column)
    return Pins((Pin(token.side, token.index),), cell)


def store_pin(tokens: Sequence[str], first: int, pins: Pins) -> None:
    """Store the pinned token in the link. A callback; `tokens` and `first` are bound beforehand."""
    pin = pins.tokens[-1] if pins.tokens else Pin("q", first)
    is_default = pins.cell is None and pin == Pin("q", first)
    column = None if pins.cell is None else pins.cell[1]
    link_state.set_and_push(DESCRIBED_TOKEN, None if is_default else DescribedToken(*pin, tokens[pin.position], column))


def current_edit() -> HeadEdit:
    """Edit of mask and scale in the link."""
    return HeadEdit(
        link_state.value(MASK) if link_state.value(CAUSAL) else "none",
        link_state.value(WINDOW),
        link_state.value(HIDDEN),
        base64.b64decode(link_state.value(PAINTED) or ""),
        link_state.value(SCALE) if link_state.value(SCALED) else "none",
        link_state.value(FACTOR),
        seen=link_state.value(SEEN),
    )


def store_edit(edit: HeadEdit) -> None:
    """Store an edit in the link, in one step. A callback."""
    painted = base64.b64encode(edit.painted).decode() if edit.mask == "painted" else ""
    link_state.set_many(
        {
            CAUSAL: edit.mask != "none",
            SCALED: edit.scale != "none",
            MASK: "model" if edit.mask == "none" else edit.mask,
            WINDOW: min(edit.window, LONGEST_WINDOW),
            SCALE: "model" if edit.scale == "none" else edit.scale,
            FACTOR: min(edit.factor, LARGEST_FACTOR),
            HIDDEN: tuple(key for key in edit.hidden if key < MOST_KEYS),
            PAINTED: painted or None,
            SEEN: edit.seen,
        }
    )
