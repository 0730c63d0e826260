"""Edits of a head's mask and scale: all choices, by the ids that links use.

Links, controls, captions, programs and messages to and from the browser are derived from these tables.
`tests/js/cases/edits.json` checks the browser's copy against them. A further mask is an entry of MASKS here, which
names a function of `core/masks.py`, and an entry of MASKS in `canvas/shared/edit.js`.
"""

from dataclasses import dataclass, replace
from typing import Any

from attnviz.base.record_json import from_json
from attnviz.base.words import N_


@dataclass(frozen=True)
class EditMask:
    """A mask to choose. The model's own and a painted one are no function of the sizes: both have no `function`."""

    label: str  #: on the control
    caption: str = ""  #: where {tokens} is the width of the window
    function: str = ""  #: of `core/masks.py`, given the numbers of queries and keys
    arguments: tuple[str, ...] = ()  #: fields of HeadEdit that it is given besides


MASKS = {
    "model": EditMask(N_("the model's own")),
    "none": EditMask(N_("none"), N_("none, every token may look at every token"), "everything"),
    "causal": EditMask(N_("causal"), N_("causal"), "causal"),
    "window": EditMask(N_("window"), N_("a window of {tokens} tokens"), "sliding_window", ("window",)),
    "painted": EditMask(N_("painted"), N_("painted by hand")),
}
SCALES = ("model", "none", "inverse", "factor")  #: "none": 1, "inverse": 1/D, "factor": the model's own times a factor
#: where the change is made: its name on the control, and a sentence for captions
SCOPES = {
    "head": (N_("this head"), N_("Changed in this head only.")),
    "layer": (N_("this layer"), N_("Changed in every head of this layer.")),
    "all": (N_("all layers"), N_("Changed in every layer.")),
}
VIEWS = ("before", "after", "difference")  #: which weights are displayed
LONGEST_WINDOW = 64
LARGEST_FACTOR = 64.0  #: no scaling is 16 times the model's own at d_k 256


def ids() -> dict[str, list[str]]:
    """The valid ids of each field of an edit."""
    return {"mask": [*MASKS], "scale": [*SCALES], "where": [*SCOPES], "seen": [*VIEWS]}


@dataclass(frozen=True)
class HeadEdit:
    """An edit of one head's mask and scale. The defaults change nothing."""

    mask: str = "model"  #: one of MASKS
    window: int = 4  #: tokens that a window sees, itself included
    hidden: tuple[int, ...] = ()  #: keys that no query may look at, by position
    painted: bytes = b""  #: np.packbits of a (Q, K) boolean, for the mask "painted"
    scale: str = "model"  #: one of SCALES
    factor: float = 1.0  #: the model's own scale times this, for the scale "factor"
    where: str = "head"  #: one of SCOPES
    seen: str = "after"  #: one of VIEWS
    silenced: tuple[tuple[int, int], ...] = ()  #: (layer, head) in the stack, whose output is replaced by zeros

    @property
    def changes_attention(self) -> bool:
        """Whether mask or scale differ from the model's."""
        return self.mask != "model" or bool(self.hidden) or self.scale not in ("model", "factor") or self.rescales

    @property
    def rescales(self) -> bool:
        return self.scale == "factor" and self.factor != 1.0

    @property
    def changes(self) -> bool:
        """Whether anything is changed, silenced heads included."""
        return self.changes_attention or bool(self.silenced)

    def fit_to(self, n_q: int, n_k: int | None = None) -> "HeadEdit":
        """The edit without keys and painted cells outside a sentence of `n_q` queries and `n_k` keys (None: `n_q`).

        An edit that then changes nothing is displayed as "before".
        """
        n_k = n_q if n_k is None else n_k
        painted = self.painted if len(self.painted) == -(-n_q * n_k // 8) else b""
        mask = "model" if self.mask == "painted" and not painted else self.mask
        keys = tuple(sorted({key for key in self.hidden if 0 <= key < n_k}))
        edit = replace(self, mask=mask, hidden=keys, painted=painted)
        return edit if edit.changes_attention else replace(edit, seen="before")


def read_edit(plain: dict[str, Any]) -> HeadEdit:
    """Parse an edit from the browser's JSON; ValueError, TypeError or LookupError if it is invalid."""
    edit = from_json(HeadEdit, plain)
    for name, allowed in ids().items():
        if getattr(edit, name) not in allowed:
            raise ValueError(f"{name} is none of {allowed}")
    keys = tuple(sorted({key for key in edit.hidden if key >= 0}))
    return replace(edit, window=max(1, edit.window), factor=max(0.0, edit.factor), hidden=keys)


NO_EDIT = HeadEdit()
