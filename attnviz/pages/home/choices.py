"""What a visitor can choose on the start page."""

import base64
from typing import Any

from attnviz.app.links import link_state
from attnviz.app.links.choices import Choice, PageChoices, packed_bits
from attnviz.base.head_edit import LARGEST_FACTOR, LONGEST_WINDOW, MASKS, SCALES, VIEWS, HeadEdit

EXAMPLE = "The animal didn't cross the street because it was too tired."
CHINESE = "动物没有过马路，因为它太累了。"  #: the same sentence, for whom a button offers it
MOST_KEYS = 400


def _keys(value: Any) -> tuple[int, ...]:
    if (
        not isinstance(value, list)
        or len(value) > MOST_KEYS
        or any(type(key) is not int or not 0 <= key < MOST_KEYS for key in value)
    ):
        raise ValueError(value)
    return tuple(sorted(set(value)))


PAGE = PageChoices("home")
SENTENCE = PAGE.sentence("sentence", EXAMPLE, longest=400)
CAUSAL = PAGE.flag("causal", True)  #: False: no mask
SCALED = PAGE.flag("scaled", True)  #: False: no scaling
MASK = PAGE.one_of("start_mask", [mask for mask in MASKS if mask != "none"])  #: where CAUSAL is not False
WINDOW = PAGE.whole("start_window", 4, low=1, high=LONGEST_WINDOW)
SCALE = PAGE.one_of("start_scale", [scale for scale in SCALES if scale != "none"])  #: where SCALED is not False
FACTOR = PAGE.real("start_factor", 1.0, low=0.0, high=LARGEST_FACTOR)
SEEN = PAGE.one_of("start_seen", VIEWS, "after")
PAINTED: Choice[str | None] = PAGE.on_canvas(
    "start_painted", None, packed_bits, lambda bits: bits, "gA==", inside="start", short="mask"
)
HIDDEN: Choice[tuple[int, ...]] = PAGE.on_canvas("start_hide", (), _keys, list, (1,), inside="start", short="hide")


def edit() -> HeadEdit:
    """What the link changes of mask and scale."""
    return HeadEdit(
        link_state.value(MASK) if link_state.value(CAUSAL) else "none",
        link_state.value(WINDOW),
        link_state.value(HIDDEN),
        base64.b64decode(link_state.value(PAINTED) or ""),
        link_state.value(SCALE) if link_state.value(SCALED) else "none",
        link_state.value(FACTOR),
        seen=link_state.value(SEEN),
    )


def keep(edit: HeadEdit) -> None:
    """Keep what a hand has changed, in one step. A callback."""
    painted = base64.b64encode(edit.painted).decode() if edit.mask == "painted" else ""
    link_state.put_all(
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
