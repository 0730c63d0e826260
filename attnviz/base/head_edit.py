"""What a visitor changes of a head, its mask or its scale: every choice there is, under the id that stands in links.

What a link may hold, the names on the controls, captions, what the browser is sent and what is read from it follow from
these tables; `tests/js/cases/edits.json` holds the browser's own to them. A further mask is an entry of MASKS here, its
function in PATTERNS of `runs/what_if.py`, and its function in MASKS of `canvas/shared/edit.js`.
"""

import base64
import binascii
import math
from dataclasses import asdict, dataclass, replace
from typing import Any

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
    silenced: tuple[tuple[int, int], ...] = ()  #: (layer, head) in the stack; no canvas shows this

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

    def fitted(self, n_q: int, n_k: int | None = None) -> "HeadEdit":
        """The edit as far as a sentence of so many queries and keys has its tokens; no change is not seen."""
        n_k = n_q if n_k is None else n_k
        painted = self.painted if len(self.painted) == -(-n_q * n_k // 8) else b""
        mask = "model" if self.mask == "painted" and not painted else self.mask
        keys = tuple(sorted({key for key in self.hidden if 0 <= key < n_k}))
        edit = replace(self, mask=mask, hidden=keys, painted=painted)
        return edit if edit.changes_attention else replace(edit, seen="before")

    def to_json(self) -> dict[str, Any]:
        """The edit as the browser has it."""
        plain = asdict(self)
        del plain["silenced"]
        return plain | {"hidden": list(self.hidden), "painted": base64.b64encode(self.painted).decode()}

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> "HeadEdit | None":
        """An edit as the browser reported it; None where it makes no sense."""
        window, factor, hidden = plain.get("window"), plain.get("factor"), plain.get("hidden")
        chosen: dict[str, Any] = {name: plain.get(name) for name in ids()}
        if any(chosen[name] not in allowed for name, allowed in ids().items()):
            return None
        if not isinstance(window, int) or not isinstance(factor, int | float) or not isinstance(hidden, list):
            return None
        if not math.isfinite(factor):
            return None
        try:
            painted = base64.b64decode(plain.get("painted") or "", validate=True)
        except (binascii.Error, TypeError):
            return None
        keys = tuple(sorted({key for key in hidden if isinstance(key, int) and key >= 0}))
        return cls(window=max(1, window), hidden=keys, painted=painted, factor=max(0.0, float(factor)), **chosen)


NO_EDIT = HeadEdit()
