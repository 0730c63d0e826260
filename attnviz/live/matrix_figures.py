"""Heads, masks and the mosaic of all heads as parts of a figure: what the canvas's JavaScript is told of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from attnviz.live import canvas_wording

MatrixKind = Literal["weights", "values", "diff", "scores"]


@dataclass(frozen=True)
class MatrixFigure:
    """One matrix (Q, K), NaN where masked: as cells, or as lines from queries to keys.

    kind "weights": 0 to 1, or up to the largest (`full_range=False`); "values": up to the largest; "diff": -1 to 1,
    "scores": up to the largest on both sides of 0. `root`: colours in square-root steps. `segments`: rows and columns
    where a second sentence begins. `unit` names a value, `top` is the end of the scale where others must compare.
    `told`: a row or a column, whose largest weights pour into it above the matrix.
    `pins` are rows ("q") and columns ("k"), `cell` a query and a key. `others` are further heads of the layer by
    number, laid over head number `head`: for lines.
    """

    values: np.ndarray
    rows: Sequence[str]
    cols: Sequence[str]
    kind: MatrixKind = "weights"
    full_range: bool = True
    root: bool = False
    pins: Sequence[tuple[str, int]] = ()
    cell: tuple[int, int] | None = None
    segments: tuple[Sequence[int], Sequence[int]] = ((), ())
    title: str = ""
    unit: str = ""
    top: float | None = None
    lines: bool = False
    head: int = 0
    told: tuple[str, int] | None = None
    others: Mapping[int, np.ndarray] = field(default_factory=dict)

    @property
    def scene(self) -> str:
        return "lines" if self.lines else "head"

    @property
    def header(self) -> dict[str, Any]:
        heads = [self.values, *self.others.values()]
        largest = max(float(np.abs(np.nan_to_num(each, posinf=0, neginf=0)).max(initial=0)) for each in heads) or 1.0
        whole = self.kind in ("weights", "diff")
        return {
            "q": list(self.rows),
            "k": list(self.cols),
            "shape": [len(self.rows), len(self.cols)],
            "signed": self.kind in ("diff", "scores"),
            "top": max(largest, 1.0) if whole else largest,
            "scale": {"top": self.top or (1.0 if whole and self.full_range else largest), "root": self.root},
            "title": self.title,
            "unit": self.unit or canvas_wording.unit(self.kind),
            "segments": [list(places) for places in self.segments],
            "pins": {"tokens": [list(pin) for pin in self.pins], "cell": None if self.cell is None else [*self.cell]},
            "heads": [self.head, *self.others],
            "told": None if self.told is None else list(self.told),
            "colours": canvas_wording.colours(),
            "words": canvas_wording.figure(),
        }

    @property
    def payload(self) -> bytes:
        return b"".join(np.asarray(each, "<f4").tobytes() for each in (self.values, *self.others.values()))


@dataclass(frozen=True)
class MaskFigure:
    """`allowed` (Q, K) boolean, True where a query may look at a key."""

    allowed: np.ndarray
    rows: Sequence[str]
    cols: Sequence[str]
    title: str = ""

    @property
    def scene(self) -> str:
        return "mask"

    @property
    def header(self) -> dict[str, Any]:
        return {
            "q": list(self.rows),
            "k": list(self.cols),
            "shape": list(self.allowed.shape),
            "title": self.title,
            "colours": canvas_wording.colours(),
            "words": canvas_wording.mask(),
        }

    @property
    def payload(self) -> bytes:
        return np.packbits(self.allowed).tobytes()


@dataclass(frozen=True)
class MosaicFigure:
    """All heads: `codes` uint8 (N, q, k), one tile a head, layer by layer, as `packing.thumbnails` makes them.

    `heads` and `kv_heads` of each layer; heads that share keys and values stand together. `selected`: the (layer, head)
    on show. `order` "measure" puts the head first whose `measure` is largest; `dim` pales those whose is small.
    `silenced` heads are crossed out.
    """

    codes: np.ndarray
    heads: Sequence[int]
    kv_heads: Sequence[int]
    selected: tuple[int, int] | None = None
    title: str = ""
    layer_ids: Sequence[int] | None = None
    measure: Sequence[float | None] | None = None
    order: str = "place"
    dim: bool = False
    root: bool = True
    silenced: Sequence[tuple[int, int]] = ()

    @property
    def scene(self) -> str:
        return "mosaic"

    @property
    def header(self) -> dict[str, Any]:
        return {
            "shape": list(self.codes.shape[1:]),
            "heads": list(self.heads),
            "kv": list(self.kv_heads),
            "layers": list(self.layer_ids or range(len(self.heads))),
            "measure": None if self.measure is None else list(self.measure),
            "order": self.order,
            "dim": self.dim,
            "scale": {"top": 1.0, "root": self.root},
            "unit": canvas_wording.unit("weights"),
            "title": self.title,
            "selected": None if self.selected is None else list(self.selected),
            "silenced": [list(place) for place in self.silenced],
            "colours": canvas_wording.colours(),
            "words": canvas_wording.overview(),
        }

    @property
    def payload(self) -> bytes:
        return np.ascontiguousarray(self.codes, np.uint8).tobytes()
