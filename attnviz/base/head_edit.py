"""What a visitor changes of a head, its mask or its scale: every choice there is, under the id that stands in links.

What a link may hold, the names on the controls, captions, what the browser is sent and what is read from it follow from
these tables; `tests/js/cases/edits.json` holds the browser's own to them. A further mask is an entry of MASKS here, its
function in PATTERNS of `analysis/what_if.py`, and its function in MASKS of `canvas/shared/edit.js`.
"""

from dataclasses import dataclass, field, replace
from typing import Any

from attnviz.base.record_json import UNSENT, from_json
from attnviz.base.words import N_

#: how a mask is called: on the control, and in a caption, where {tokens} is the width of the window; the model's own
#: has none
MASKS = {
    "model": (N_("the model's own"), ""),
    "none": (N_("none"), N_("none, every token may look at every token")),
    "causal": (N_("causal"), N_("causal")),
    "window": (N_("window"), N_("a window of {tokens} tokens")),
    "painted": (N_("painted"), N_("painted by hand")),
}
SCALES = ("model", "none", "inverse", "factor")  #: "none": 1, "inverse": 1/D, "factor": the model's own times a factor
#: where the change is made: its name on the control, and a sentence for captions
SCOPES = {
    "head": (N_("this head"), N_("Changed in this head only.")),
    "layer": (N_("this layer"), N_("Changed in every head of this layer.")),
    "all": (N_("all layers"), N_("Changed in every layer.")),
}
VIEWS = ("before", "after", "difference")  #: what of a change is on show
LONGEST_WINDOW = 64
LARGEST_FACTOR = 64.0  #: no scaling is 16 times the model's own at d_k 256


def ids() -> dict[str, list[str]]:
    """The ids that each choice of an edit has."""
    return {"mask": [*MASKS], "scale": [*SCALES], "where": [*SCOPES], "seen": [*VIEWS]}


@dataclass(frozen=True)
class HeadEdit:
    """What is changed of a head. The defaults change nothing."""

    mask: str = "model"  #: one of MASKS
    window: int = 4  #: tokens that a window sees, itself included
    hidden: tuple[int, ...] = ()  #: keys that no query may look at, by position
    painted: bytes = b""  #: np.packbits of a (Q, K) boolean, for the mask "painted"
    scale: str = "model"  #: one of SCALES
    factor: float = 1.0  #: the model's own scale times this, for the scale "factor"
    where: str = "head"  #: one of SCOPES
    seen: str = "after"  #: one of VIEWS
    #: (layer, head) in the stack; no canvas shows this
    silenced: tuple[tuple[int, int], ...] = field(default=(), metadata=UNSENT)

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
        """The edit as far as a sentence of so many queries and keys has its tokens; no change is not seen."""
        n_k = n_q if n_k is None else n_k
        painted = self.painted if len(self.painted) == -(-n_q * n_k // 8) else b""
        mask = "model" if self.mask == "painted" and not painted else self.mask
        keys = tuple(sorted({key for key in self.hidden if 0 <= key < n_k}))
        edit = replace(self, mask=mask, hidden=keys, painted=painted)
        return edit if edit.changes_attention else replace(edit, seen="before")


def read_edit(plain: dict[str, Any]) -> HeadEdit:
    """An edit as the browser reported it; ValueError, TypeError or LookupError where it makes no sense."""
    edit = from_json(HeadEdit, plain)
    for name, allowed in ids().items():
        if getattr(edit, name) not in allowed:
            raise ValueError(f"{name} is none of {allowed}")
    keys = tuple(sorted({key for key in edit.hidden if key >= 0}))
    return replace(edit, window=max(1, edit.window), factor=max(0.0, edit.factor), hidden=keys)


NO_EDIT = HeadEdit()
