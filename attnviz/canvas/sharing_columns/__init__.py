"""Ways of sharing keys and values beside each other: which query head reads which K/V head, and what is kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from attnviz.base.words import _, end_sentence, join_sentences
from attnviz.canvas.shared.component import get_component
from attnviz.canvas.shared.packing import pack_blob
from attnviz.figures.theme import K_VERMILION, MASKED, Q_BLUE, V_GREEN

WIRES = 132  #: pixels from the query heads to the K/V heads


@dataclass(frozen=True)
class SharingColumn:
    """One way of sharing: `heads` query heads read `kv_heads` key/value heads."""

    name: str
    heads: int
    kv_heads: int
    facts: Sequence[str]  #: shapes and parameters
    kept: str  #: the bytes of the cache, in words
    share: float  #: of the cache of MHA, 0 to 1
    cache: str = ""  #: how the picture says what is kept

    @property
    def head_counts(self) -> str:
        """How many heads read how many."""
        text = _("{h} query heads on 1 K/V head") if self.kv_heads == 1 else _("{h} query heads on {g} K/V heads")
        return text.format(h=self.heads, g=self.kv_heads)

    @property
    def description(self) -> str:
        """The column for those who cannot see it."""
        parts = (self.name, self.head_counts, *self.facts, self.cache)
        return join_sentences(*(end_sentence(phrase.rstrip(".。")) for phrase in parts))


def sharing_columns(key: str, columns: Sequence[SharingColumn], wires: int = WIRES) -> None:
    """Draw the columns beside each other; on a phone below each other."""
    get_component("sharing_columns")(key=key, data=pack_blob(_header(columns, wires)))


@dataclass(frozen=True)
class SharingFigure:
    """The columns side by side, for a file."""

    scene: ClassVar[str] = "sharing"
    payload: ClassVar[bytes] = b""
    columns: Sequence[SharingColumn]
    title: str = ""

    @property
    def header(self) -> dict[str, Any]:
        return _header(self.columns, WIRES) | {"title": self.title}


def _header(columns: Sequence[SharingColumn], wires: int) -> dict[str, Any]:
    return {
        "columns": [vars(column) | {"counted": column.head_counts, "spoken": column.description} for column in columns],
        "wires": wires,
        "colours": {"q": Q_BLUE, "k": K_VERMILION, "v": V_GREEN, "masked": MASKED},
    }
