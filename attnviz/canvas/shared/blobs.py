"""Encode the messages to each view, and decode its reports."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.base import raw_scores
from attnviz.base.head_edit import HeadEdit
from attnviz.base.head_record import Arrangement, HeadChannel, HeadData, HeadGrid, HeadView, Pin, Pins, RawSource
from attnviz.base.record_json import to_json
from attnviz.canvas.shared import packing
from attnviz.canvas.shared.component import count
from attnviz.figures.theme import MOST_HEADS
from attnviz.live.head_header import NO_CHANNEL, grid_header, head_header, name_tokens


@dataclass(frozen=True)
class RequestedText:
    """The text that the visitor asked for. Asked for again, it is drawn by the browser before the script has run."""

    label: str  #: of the field that the text is typed into, in the visitor's language
    text: str
    besides: str  #: all else that the pictures depend on, in a few letters


@dataclass(frozen=True)
class Overview:
    """Thumbnails of all heads of one stack, layer by layer, and how to lay them out.

    thumbnails  uint8 (N, q, k) from `packing.make_thumbnails`, N = sum(grid.heads)
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
        tiles = [packing.make_thumbnails(layer, hidden) for layer in layers]
        return cls(np.concatenate(tiles), HeadGrid.of([len(tile) for tile in tiles], kv_heads, layer_ids))

    def by(self, measure: NDArray[np.floating], name: str = "", order: bool = False, dim: bool = False) -> "Overview":
        """The overview with a measure (N,) or (L, H): tiles ordered and dimmed by it if asked, its value on hover."""
        values = tuple(packing.json_numbers(np.asarray(measure, np.float64).ravel(), 4))
        laid = replace(self.grid, measure=values, measure_name=name, order="measure" if order else "place", dim=dim)
        return replace(self, grid=laid)

    @cached_property
    def packed(self) -> tuple[bytes, str]:
        """The compressed tiles and their fingerprint, made once."""
        if self.compressed is not None:
            return self.compressed
        data = packing.deflate(np.ascontiguousarray(self.thumbnails).tobytes())
        return data, packing.fingerprint(data, self.thumbnails.shape)


def overview_blob(
    group: str,
    overview: Overview,
    tokens_q: Sequence[str],
    tokens_k: Sequence[str] | None,
    requested: RequestedText | None = None,
) -> bytes:
    """All thumbnails; nothing in it depends on which head is chosen, so that a click sends none of it again."""
    tiles, name = overview.packed
    header = grid_header(overview.grid, overview.thumbnails.shape[1:], tokens_q, tokens_k)
    header |= {"group": group, "asked": None if requested is None else asdict(requested), "data": name}
    return packing.pack_blob(header, tiles)


def head_blob(
    data: HeadData,
    view: HeadView,
    edit: HeadEdit | None = None,
    channel: HeadChannel = NO_CHANNEL,
    coarse: bool = False,
) -> bytes:
    """A head with all that it takes to draw it.

    A `coarse` head has 16 bits a score where that is less than its exact form.
    """
    header = head_header(data, view, edit, channel)
    if data.exact:
        # not compressed: unpacking would cost more time than sending
        scores, payload = raw_scores.pack([data], 32)
        if coarse:
            scores, payload = min((scores, payload), raw_scores.pack([data], 16), key=lambda packed: len(packed[1]))
        payload += b"" if data.norms is None else data.norms.astype("<f4").tobytes()
        raw = RawSource(scores, view.arrangement or Arrangement())
        header |= {"raw": to_json(raw), "coarse": scores.bits == 16}
    else:
        codes = packing.encode16(data.scores, ~data.mask, header["top"], view.signed)
        payload = packing.deflate(packing.split_bytes(codes), runs=True)
    return packing.pack_blob(header | {"data": packing.fingerprint(payload, tuple(header["shape"]))}, payload)


def read_over(report: dict[str, Any]) -> tuple[int, ...] | None:
    """The heads laid over the one on show, as the browser reported them; None where they make no sense."""
    heads = report.get("heads")
    if not isinstance(heads, list) or any(count(head) is None for head in heads):
        return None
    return tuple(dict.fromkeys(heads))[:MOST_HEADS]


def read_pins(report: dict[str, Any], rows: Sequence[str], cols: Sequence[str] | None) -> Pins | None:
    """Pins as the browser reported them, None where they belong to other tokens; what does not fit is dropped."""
    if report.get("doc") != name_tokens(rows, cols):
        return None
    size = {"q": len(rows), "k": len(rows if cols is None else cols)}
    pins = tuple(Pin(a, i) for a, i in _pairs(report.get("tokens")) if a in size and count(i, size[a]) is not None)
    cells = (cell for cell in _pairs([report.get("cell")]) if None not in map(count, cell, size.values()))
    return Pins(pins, next(((q, k) for q, k in cells), None))


def _pairs(value: Any) -> list[Any]:
    return [pair for pair in value if isinstance(pair, list) and len(pair) == 2] if isinstance(value, list) else []
