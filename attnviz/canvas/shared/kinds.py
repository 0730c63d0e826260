"""What is drawn and what is answered: plain records, without a word of Streamlit."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from attnviz.canvas.shared import packing


@dataclass(frozen=True)
class AskedText:
    """What the visitor asked for. The same text asked for again is drawn by the browser, before the script has run."""

    label: str  #: of the field that the text is typed into, in the visitor's language
    text: str
    besides: str  #: all else that the pictures depend on, in a few letters


@dataclass(frozen=True)
class Overview:
    """Thumbnails of all heads of one stack, layer by layer, and how to lay them out.

    thumbnails  uint8 (N, q, k) from `packing.thumbnails`, N = sum(heads)
    heads       query heads of each layer; kv_heads: key/value heads of each layer (equal: no brackets)
    measure     one number a head, (N,), for order, dimming and hover; `measure_name` in the visitor's language
    order       "place" = layers x heads; "measure" = largest first
    dim         True: the smaller its measure, the paler a tile
    layer_ids   what the layers are called, where not 0, 1, 2... (a stack's own numbers)
    root        colours on a square-root scale from 0 to 1 (small weights show), else linear
    silenced    (layer, head) of each head whose output is replaced by zeros: marked
    compressed  what `packed` answers, where that was made before: it stays, however the tiles are laid out
    """

    thumbnails: NDArray[np.uint8]
    heads: tuple[int, ...]
    kv_heads: tuple[int, ...]
    measure: NDArray[np.floating] | None = None
    measure_name: str = ""
    order: Literal["place", "measure"] = "place"
    dim: bool = False
    layer_ids: tuple[int, ...] | None = None
    root: bool = True
    silenced: tuple[tuple[int, int], ...] = ()
    compressed: tuple[bytes, str] | None = None

    @classmethod
    def of(
        cls,
        layers: Iterable[NDArray[np.floating]],
        kv_heads: Sequence[int] | None = None,
        hidden: NDArray[np.bool_] | None = None,
        side: int = packing.THUMBNAIL_SIDE,
    ) -> "Overview":
        """From the weights (H, Q, K) of each layer, taken one at a time; `hidden` (Q, K) True = masked, or NaN."""
        tiles = [packing.thumbnails(layer, hidden, side) for layer in layers]
        heads = tuple(len(tile) for tile in tiles)
        return cls(np.concatenate(tiles), heads, tuple(kv_heads) if kv_heads is not None else heads)

    def by(
        self, measure: NDArray[np.floating] | None, name: str = "", order: bool = False, dim: bool = False
    ) -> "Overview":
        """The same tiles with a measure (N,) or (L, H): ordered and dimmed by it as asked, shown on hover."""
        values = None if measure is None else np.asarray(measure, np.float64).ravel()
        return replace(self, measure=values, measure_name=name, order="measure" if order else "place", dim=dim)

    @cached_property
    def packed(self) -> tuple[bytes, str]:
        """The compressed tiles and their fingerprint, made once."""
        if self.compressed is not None:
            return self.compressed
        data = packing.squeeze(np.ascontiguousarray(self.thumbnails).tobytes())
        return data, packing.fingerprint(data, self.thumbnails.shape)
