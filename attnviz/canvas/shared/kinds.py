"""What is drawn and what is answered: plain records, without a word of Streamlit."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from attnviz.base.head_record import HeadGrid
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

    thumbnails  uint8 (N, q, k) from `packing.thumbnails`, N = sum(grid.heads)
    compressed  what `packed` answers, where that was made before: it stays, however the tiles are laid out
    """

    thumbnails: NDArray[np.uint8]
    grid: HeadGrid
    compressed: tuple[bytes, str] | None = None

    @classmethod
    def of(
        cls,
        layers: Iterable[NDArray[np.floating]],
        kv_heads: Sequence[int] | None = None,
        hidden: NDArray[np.bool_] | None = None,
        layer_ids: Sequence[int] | None = None,
    ) -> "Overview":
        """From the weights (H, Q, K) of each layer, taken one at a time; `hidden` (Q, K) True = masked, or NaN."""
        tiles = [packing.thumbnails(layer, hidden) for layer in layers]
        return cls(np.concatenate(tiles), HeadGrid.of([len(tile) for tile in tiles], kv_heads, layer_ids))

    def by(self, measure: NDArray[np.floating], name: str = "", order: bool = False, dim: bool = False) -> "Overview":
        """The same tiles with a measure (N,) or (L, H): ordered and dimmed by it as asked, shown on hover."""
        values = tuple(packing.plain_numbers(np.asarray(measure, np.float64).ravel(), 4))
        laid = replace(self.grid, measure=values, measure_name=name, order="measure" if order else "place", dim=dim)
        return replace(self, grid=laid)

    @cached_property
    def packed(self) -> tuple[bytes, str]:
        """The compressed tiles and their fingerprint, made once."""
        if self.compressed is not None:
            return self.compressed
        data = packing.squeeze(np.ascontiguousarray(self.thumbnails).tobytes())
        return data, packing.fingerprint(data, self.thumbnails.shape)
