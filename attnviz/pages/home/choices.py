"""What a visitor can choose on the start page."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from attnviz.app.links import link_state
from attnviz.app.links.choices import Choice, PageChoices, head_name, pack_bits, record_reader
from attnviz.base.head_edit import LARGEST_FACTOR, LONGEST_WINDOW, MASKS, NO_EDIT, SCALES, VIEWS, HeadEdit
from attnviz.base.head_record import RibbonsState
from attnviz.base.words import N_
from attnviz.pages.home import maths

EXAMPLE = "The animal didn't cross the street because it was too tired."
CHINESE = "动物没有过马路，因为它太累了。"  #: the same sentence, for whom a button offers it
MOST_KEYS = 400


_keys = record_reader(
    tuple[int, ...], lambda keys: len(keys) <= MOST_KEYS and all(0 <= key < MOST_KEYS for key in keys)
)


_read_head = record_reader(tuple[int, int], lambda place: min(place) >= 0)


@dataclass(frozen=True)
class DescribedToken:
    """The touched word: what it looks at ("q") or what looks at it ("k"), and the pinned other word, `column`.

    `label` is its text: in an edited sentence the same index may be another token.
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
#: of links from before there were ribbons: "before" is the model's own mask and scale
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


HEAD: Choice[tuple[int, int]] = PAGE.on_canvas(
    "start_head", maths.HEAD, _read_head, list, (3, 1), inside="start", short="head", label=N_("Head")
)
UNFOLDED = PAGE.flag("start_matrix", label=N_("Matrix unfolded"))


def current_state(tokens: Sequence[str], first: int, heads: Sequence[int], edit: HeadEdit) -> RibbonsState:
    """State in the link for these tokens: the word `first` if the link names none, or one of another text."""
    token, n, tile = link_state.value(DESCRIBED_TOKEN), len(tokens), link_state.value(HEAD)
    if not (tile[0] < len(heads) and tile[1] < heads[tile[0]]):
        if len(heads) > 1:  # a trained model: words of random vectors have one head, whichever is asked for
            link_state.refuse(HEAD, head_name(tile), head_name(HEAD.default))
        tile = HEAD.default if len(heads) > 1 else (0, 0)
    unfolded = link_state.value(UNFOLDED)
    if token is None or token.index >= n or tokens[token.index] != token.label:
        return RibbonsState(tile, first, unfolded=unfolded, edit=edit)
    pinned = None if token.column is None or token.column >= n else token.column
    return RibbonsState(tile, token.index, token.side, pinned, unfolded, edit)


def store_state(tokens: Sequence[str], first: int, state: RibbonsState) -> None:
    """A callback: store the state of the picture in the link; `tokens` and `first` are bound beforehand."""
    is_default = state.axis == "q" and state.word == first and state.pinned is None
    token = None if is_default else DescribedToken(state.axis, state.word, tokens[state.word], state.pinned)
    values: dict[Choice[Any], Any] = {DESCRIBED_TOKEN: token, HEAD: state.tile, UNFOLDED: state.unfolded}
    link_state.set_many(values | _edit_values(state.edit))


def current_edit() -> HeadEdit:
    """Edit of mask and scale in the link."""
    if link_state.value(SEEN) == "before":
        return NO_EDIT
    return HeadEdit(
        link_state.value(MASK) if link_state.value(CAUSAL) else "none",
        link_state.value(WINDOW),
        link_state.value(HIDDEN),
        base64.b64decode(link_state.value(PAINTED) or ""),
        link_state.value(SCALE) if link_state.value(SCALED) else "none",
        link_state.value(FACTOR),
    )


def _edit_values(edit: HeadEdit) -> dict[Choice[Any], Any]:
    """The choices that an edit consists of."""
    painted = base64.b64encode(edit.painted).decode() if edit.mask == "painted" else ""
    return {
        CAUSAL: edit.mask != "none",
        SCALED: edit.scale != "none",
        MASK: link_state.value(MASK) if edit.mask == "none" else edit.mask,
        WINDOW: min(edit.window, LONGEST_WINDOW),
        SCALE: "model" if edit.scale == "none" else edit.scale,
        FACTOR: min(edit.factor, LARGEST_FACTOR),
        HIDDEN: tuple(key for key in edit.hidden if key < MOST_KEYS),
        PAINTED: painted or link_state.value(PAINTED),
        SEEN: "after",
    }
