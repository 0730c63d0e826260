"""Heads, masks and the mosaic of all heads as parts of a figure: header and payload of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from attnviz.base import raw_scores
from attnviz.base.head_edit import NO_EDIT, HeadEdit
from attnviz.base.head_record import HeadData, HeadGrid, HeadView, Pins
from attnviz.base.record_json import to_json
from attnviz.base.rounding import Rounded
from attnviz.live import canvas_wording
from attnviz.live.head_header import grid_header, head_header


@dataclass(frozen=True)
class HeadFigure:
    """A head whose `data` are values to display: as cells, or as `lines` from queries to keys.

    `others` are further heads of the layer by number, laid over it, NaN where masked: for lines. `sent`: the values as
    a canvas has them that was sent codes of them.
    """

    data: HeadData
    view: HeadView
    lines: bool = False
    others: Mapping[int, np.ndarray] = field(default_factory=dict)
    sent: np.ndarray | None = None

    @property
    def scene(self) -> str:
        return "lines" if self.lines else "head"

    @property
    def header(self) -> dict[str, Any]:
        pins, (_layer, head) = self.view.pins or Pins(), self.view.tile or (0, 0)
        values = np.stack(self._matrices)
        combined = HeadData(values, np.isfinite(values), exact=False)
        return head_header(self.data, replace(self.view, pins=pins), largest=combined.largest) | {
            "heads": [head, *self.others],
        }

    @property
    def payload(self) -> bytes:
        base, *others = self._matrices
        matrices = [base if self.sent is None else self.sent, *others]
        return b"".join(np.asarray(values, "<f4").tobytes() for values in matrices)

    @property
    def _matrices(self) -> list[np.ndarray]:
        return [self.data.plain, *self.others.values()]


@dataclass(frozen=True)
class HeadFilm:
    """The film of one query of an exact head under an edit, from its tokens to a mixture of values."""

    scene: ClassVar[str] = "head"
    data: HeadData
    row: int
    edit: HeadEdit = NO_EDIT
    title: str = ""

    @property
    def header(self) -> dict[str, Any]:
        return {
            "raw": to_json(raw_scores.pack([self.data], 32)[0]),
            "edit": to_json(self.edit),
            "row": self.row,
            "q": list(self.data.tokens_q),
            "k": None if self.data.tokens_k is None else list(self.data.tokens_k),
            "title": self.title,
            "colours": canvas_wording.scene_colours(),
            "words": canvas_wording.figure_text(),
        }

    @property
    def payload(self) -> bytes:
        return raw_scores.pack([self.data], 32)[1]


@dataclass(frozen=True, eq=False)
class CellFigure:
    """How the weight of one query and one key came about. D: width of q and k; K: number of keys."""

    scene: ClassVar[str] = "cell"
    payload: ClassVar[bytes] = b""
    query: str  #: the token that looks
    names: Sequence[str]  #: of all keys
    key: int  #: which of these is looked at
    q: np.ndarray  #: (D,)
    k: np.ndarray  #: (D,)
    score: float
    factor: float  #: the score is multiplied by this
    scaled: np.ndarray  #: (K,) -inf where masked
    weights: np.ndarray  #: (K,)
    extras: Sequence[str] = ()  #: which of "bias", "softcap" and "sinks" there are

    @property
    def title(self) -> str:
        """The whole way in a sentence."""
        scaled, weight = float(self.scaled[self.key]), float(self.weights[self.key])
        template = canvas_wording.cell_text()["cell_sum" if np.isfinite(scaled) else "cell_masked"]
        numbers = {"score": f"{Rounded(self.score):.2f}", "scaled": f"{Rounded(scaled):.2f}"}
        return template.format(
            query=self.query,
            key=self.names[self.key],
            factor=f"{Rounded(self.factor):.4g}",
            weight=f"{Rounded(weight):.1%}",
            **{name: number.replace("-", "−") for name, number in numbers.items()},
        )

    @property
    def header(self) -> dict[str, Any]:
        return {
            "token": self.query,
            "names": list(self.names),
            "col": self.key,
            "q": self.q.tolist(),
            "k": self.k.tolist(),
            "score": self.score,
            "factor": self.factor,
            "scaled": [value if np.isfinite(value) else None for value in self.scaled.tolist()],
            "weights": self.weights.tolist(),
            "extras": list(self.extras),
            "title": self.title,
            "colours": canvas_wording.scene_colours(),
            "words": canvas_wording.figure_text() | canvas_wording.cell_text(),
        }


@dataclass(frozen=True)
class MaskFigure:
    """`allowed` (Q, K) boolean, True where a query may look at a key.

    With raw `scores` (T, T) and their `scale`: the weights under this mask, and the ribbons of a `word`; of several
    `layers`, of at most so many, how far words reach up to it.
    """

    scene: ClassVar[str] = "mask"
    allowed: np.ndarray
    rows: Sequence[str]
    cols: Sequence[str]
    title: str = ""
    scores: np.ndarray | None = None
    scale: float | None = None
    word: int = 0
    layers: tuple[int, int] | None = None

    @property
    def header(self) -> dict[str, Any]:
        return {
            "q": list(self.rows),
            "k": list(self.cols),
            "shape": list(self.allowed.shape),
            "title": self.title,
            "scale": self.scale,
            "word": self.word,
            "layers": self.layers,
            "colours": canvas_wording.scene_colours(),
            "words": canvas_wording.mask_text(),
        }

    @property
    def payload(self) -> bytes:
        scores = b"" if self.scores is None else self.scores.astype("<f4").tobytes()
        return np.packbits(self.allowed).tobytes() + scores


@dataclass(frozen=True)
class MosaicFigure:
    """All heads: `codes` uint8 (N, q, k), one tile a head, layer by layer, as `packing.make_thumbnails` makes them.

    `selected`: the (layer, head) on show. `edit`: a change that these codes do not have yet, made by JavaScript in
    `every`, all heads as the browser is sent them.
    """

    scene: ClassVar[str] = "mosaic"
    codes: np.ndarray
    grid: HeadGrid
    selected: tuple[int, int] | None = None
    title: str = ""
    edit: HeadEdit | None = None
    every: bytes = b""

    @property
    def header(self) -> dict[str, Any]:
        selected = None if self.selected is None else list(self.selected)
        edit = None if self.edit is None else to_json(self.edit)
        state = {"title": self.title, "selected": selected, "edit": edit}
        return grid_header(self.grid, self.codes.shape[1:]) | state

    @property
    def payload(self) -> bytes:
        return np.ascontiguousarray(self.codes, np.uint8).tobytes() + self.every
