"""Records of one head: its numbers (`HeadData`), its display (`HeadView`) and its edit (`HeadEdit`).

Pages, notebook, files and site create these; `live/head_header.py` writes the JSON that JavaScript draws from.
Its types, `canvas/shared/records.d.ts`, are generated from this file by `python -m scripts.record_types`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnviz.base.head_edit import NO_EDIT, HeadEdit
from attnviz.base.record_json import UNSENT

PinSide = Literal["q", "k"]
HeadKind = Literal["weights", "values", "diff", "scores"]


@dataclass(frozen=True, eq=False)
class HeadData:
    """The numbers of one head: all that `core.attention.attend` needs to compute its weights.

    If it is not `exact`, `scores` holds the values to display: weights that a model reported, a mean of heads, or a
    difference.
    """

    scores: NDArray[np.floating]  #: (Q, K) float32, q.kT before its scale; hidden cells too
    mask: NDArray[np.bool_]  #: (Q, K) boolean, True where the model lets a query attend
    scale: float = 1.0  #: what the model multiplies scores by
    width: int = 0  #: D, the width of a query
    exact: bool = True
    padding: NDArray[np.bool_] | None = None  #: (K,) boolean, False at padding, which stays hidden under any mask
    bias: NDArray[np.floating] | None = None  #: (Q, K) float32, added to the scaled scores
    softcap: float | None = None
    sink: float | None = None
    q: NDArray[np.floating] | None = None  #: (Q, D) float32, and
    k: NDArray[np.floating] | None = None  #: (K, D), whose products the scores are; only where one head is asked for
    norms: NDArray[np.float32] | None = None  #: (K,) lengths of the values, where weights times these are displayed
    tokens_q: Sequence[str] = ()  #: labels of queries
    tokens_k: Sequence[str] | None = None  #: labels of keys; None: the queries' own

    @classmethod
    def of_values(
        cls,
        values: NDArray[np.floating],
        tokens_q: Sequence[str],
        tokens_k: Sequence[str] | None = None,
        hidden: NDArray[np.bool_] | None = None,
    ) -> "HeadData":
        """Values (Q, K) to display as they are; masked where `hidden`, or no finite number."""
        finite = np.isfinite(values)
        mask = finite if hidden is None else finite & ~hidden
        return cls(values, mask, exact=False, tokens_q=tokens_q, tokens_k=tokens_k)

    @property
    def largest(self) -> float:
        """The largest magnitude of a cell that is not masked."""
        return float(np.abs(np.where(self.mask, self.scores, 0)).max(initial=0))

    @property
    def plain(self) -> NDArray[np.floating]:
        """Displayed values, NaN where masked; of data that is not exact."""
        return np.where(self.mask, self.scores, np.nan)


class Pin(NamedTuple):
    """A pinned token: as a query (its row) or as a key (its column), by position."""

    axis: PinSide
    position: int


@dataclass(frozen=True)
class Pins:
    """Pinned tokens in the order they were pinned, and the last cell clicked (query, key)."""

    tokens: tuple[Pin, ...] = ()
    cell: tuple[int, int] | None = None

    def __bool__(self) -> bool:
        return bool(self.tokens) or self.cell is not None


@dataclass(frozen=True)
class RowSentence:
    """The sentence about one row: templates with one, two and three keys, with none, and with none worth naming."""

    templates: tuple[str, str, str, str, str]
    row: int | None  #: described while none is pinned
    places: tuple[tuple[int, ...], tuple[int, ...]]  #: positions of rows and columns, which name a repeated token
    least: float = 0.005  #: the smallest value that is worth a word


@dataclass(frozen=True)
class Arrangement:
    """How a head's weights become the displayed matrix."""

    rows: tuple[tuple[int, ...], ...] | None = None  #: positions behind each row, None: one each, all of them
    cols: tuple[tuple[int, ...], ...] | None = None
    merged: bool = False  #: a row is the mean of its positions, not their sum
    renormalise: bool = False  #: rows sum to 1 again
    norms: bool = False  #: weights times the lengths of the values are displayed
    row_labels: Sequence[str] = field(default=(), metadata=UNSENT)
    col_labels: Sequence[str] | None = field(default=None, metadata=UNSENT)  #: None: the rows' own


@dataclass(frozen=True)
class HeadView:
    """Display options of one head."""

    title: str = ""  #: such as "Layer 11, head 2": drawn above, read aloud
    kind: HeadKind = "weights"  #: 0 to 1; "values": 0 to the largest; "diff" and "scores": centred on 0
    tile: tuple[int, int] | None = None  #: (layer, head): which tile of the overview it is, if it is one
    titles: str = ""  #: template of every head's title, with {layer} and {head}
    sentence: RowSentence | None = None
    segments: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())  #: first rows and columns of later segments
    pins: Pins | None = None  #: where pinning starts; other ones replace what is pinned, `Pins()` clears
    over: tuple[int, ...] | None = None  #: heads whose lines are laid over its own; None: none can be chosen
    full_range: bool = True  #: 0 to 1 for weights, -1 to 1 for differences; False: up to this matrix's own largest
    fixed_top: float | None = None  #: the end of the scale, for several views that must compare
    root: bool = field(default=False, metadata=UNSENT)  #: colours on a square-root scale
    unit: str = ""  #: what a value is called; "": as its kind is
    compact: bool = False  #: heatmap only, small
    chips: bool = True  #: whether the sentence stands above; not in compact views
    lines: bool = True  #: whether token lines stand beside; not in compact views
    lit_row: bool = False  #: whether the described row is lit while nothing is pinned or pointed at
    arrangement: Arrangement | None = field(default=None, metadata=UNSENT)

    @property
    def signed(self) -> bool:
        """Whether the scale has two sides."""
        return self.kind in ("diff", "scores")

    def row_of(self, pins: Pins) -> int | None:
        """The described row: the cell's, else the last pinned, else the sentence's."""
        if pins.cell is not None:
            return pins.cell[0]
        rows = [pin.position for pin in pins.tokens if pin.axis == "q"]
        return rows[-1] if rows else None if self.sentence is None else self.sentence.row

    def labels(self, data: HeadData) -> tuple[list[str], list[str] | None]:
        """Labels of rows and of columns; None: columns are the rows' own tokens."""
        arrangement = self.arrangement
        rows, cols = (
            (data.tokens_q, data.tokens_k) if arrangement is None else (arrangement.row_labels, arrangement.col_labels)
        )
        return [str(label) for label in rows], None if cols is None else [str(label) for label in cols]


@dataclass(frozen=True)
class RibbonsState:
    """What a visitor has chosen of a sentence whose words pour into one of them."""

    tile: tuple[int, int]  #: (layer, head)
    word: int  #: the touched word, by position
    axis: PinSide = "q"  #: "q": what it looks at; "k": who looks at it
    pinned: int | None = None  #: the other word of the ribbon or cell that was clicked
    unfolded: bool = False  #: whether the matrix is on show
    edit: HeadEdit = NO_EDIT


@dataclass(frozen=True)
class HeadGrid:
    """All heads of a stack, layer by layer, and how their tiles are laid out."""

    heads: tuple[int, ...]  #: query heads of each layer
    kv: tuple[int, ...]  #: key/value heads of each layer; equal: no brackets
    layers: tuple[int | str, ...]  #: what each layer is called
    measure: tuple[float | None, ...] | None = None  #: a number of each head, for order, dimming and hover
    measure_name: str = ""
    order: Literal["place", "measure"] = "place"  #: layers x heads, or the largest measure first
    dim: bool = False  #: the smaller its measure, the paler a tile
    silenced: tuple[tuple[int, int], ...] = ()  #: (layer, head) of heads whose output is zeros: crossed out
    root: bool = field(default=True, metadata=UNSENT)  #: colours on a square-root scale, in which small weights show

    @classmethod
    def of(
        cls, heads: Sequence[int], kv: Sequence[int] | None = None, layers: Sequence[int | str] | None = None
    ) -> "HeadGrid":
        """A grid of layers with these numbers of heads; None for `layers` counts from 0."""
        return cls(tuple(heads), tuple(kv or heads), tuple(range(len(heads)) if layers is None else layers))


@dataclass(frozen=True)
class HeadChannel:
    """Links of a canvas: to other canvases, to the session that receives its gestures, and to more heads."""

    group: str = ""  #: views of one group light, pin and zoom together
    session: str = ""
    ack: int = 0  #: the newest pick that the session has received,
    heard: int = 0  #: the newest gesture on pins,
    edits: int = 0  #: the newest edit,
    overs: int = 0  #: and the newest choice of heads laid over
    every: str | None = None  #: the address of all heads of a short sentence
    ahead: str | None = None  #: the address of any other head
    edited_tiles: str | None = None  #: the address of all tiles under the edit, for sentences that have no `every`
    why: bool = False  #: whether the page answers why a cell has its weight


@dataclass(frozen=True)
class PackedHeads:
    """Header of a `raw_scores.pack` payload; a field is one value for all heads, or a list with one for each."""

    bits: Literal[16, 32]
    vectors: bool  #: q and k of one head, in place of its scores
    count: int
    shape: tuple[int, int]
    scale: float | list[float]
    width: int | list[int]
    exact: bool | list[bool]
    softcap: float | list[float | None] | None
    mask: int | list[int]
    bias: int | list[int | None] | None
    padding: bool
    sinks: bool


@dataclass(frozen=True)
class RawSource:
    """Heads before their softmax, and how their weights become the displayed matrix."""

    scores: PackedHeads
    arranged: Arrangement


@dataclass(frozen=True)
class ColourScale:
    """The largest value that is displayed, and whether colours are in steps of square roots."""

    top: float
    root: bool


@dataclass(frozen=True)
class HeadFacts:
    """Header of a head for JavaScript, besides its view: labels, content hashes, colour scale, payload."""

    q: list[str]
    k: list[str] | None
    shape: tuple[int, int]
    signed: bool
    top: float  #: the largest value that codes can stand for
    scale: ColourScale
    doc: str  #: a name for the tokens: pins and zoom belong to them
    look: str  #: a name for how it is displayed
    start: str  #: a name for the pins: the browser takes them over when it changes
    edit: HeadEdit | None  #: None: no controls of mask and scale
    edit_name: str
    data: str = ""  #: a name for the payload
    raw: RawSource | None = None  #: None: the payload holds codes
    coarse: bool = False  #: 16 bits a score, where that is not its exact form
