"""What is drawn and what is answered: plain records, without a word of Streamlit."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from attnviz.base.head_edit import HeadEdit
from attnviz.base.raw_scores import RawHead
from attnviz.canvas.shared import packing

PinSide = Literal["q", "k"]


@dataclass(frozen=True)
class Pin:
    """A token held fast: as a query (its row) or as a key (its column), by position."""

    axis: PinSide
    index: int


@dataclass(frozen=True)
class Pins:
    """What a visitor holds: pinned tokens in the order they were pinned, and the last cell clicked (query, key)."""

    tokens: tuple[Pin, ...] = ()
    cell: tuple[int, int] | None = None

    def __bool__(self) -> bool:
        return bool(self.tokens) or self.cell is not None


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


@dataclass(frozen=True)
class Raw:
    """A head before its softmax, and how its weights become the matrix on show: the browser computes that itself.

    `rows` and `cols` are the positions behind each row and column, None = one each, all of them; `merged`: a row is the
    mean of its positions; `renormalise`: rows sum to 1 again; `norms`: lengths of the values that weights are times of.
    """

    head: RawHead
    rows: tuple[tuple[int, ...], ...] | None = None
    cols: tuple[tuple[int, ...], ...] | None = None
    merged: bool = False
    renormalise: bool = False
    norms: NDArray[np.float32] | None = None


@dataclass(frozen=True)
class SaidOfRow:
    """The sentence under a head: templates with one, two and three keys, and of rows with no key and none worth naming.

    `row` is the one that is told of while none is pinned; `places` are the positions of rows and columns in the text,
    which name a token that occurs more than once.
    """

    templates: tuple[str, str, str, str, str]
    row: int
    places: tuple[tuple[int, ...], tuple[int, ...]]
    least: float = 0.005  #: the smallest value that is worth a word


@dataclass(frozen=True)
class Head:
    """One matrix (Q, K) to draw large.

    values   NaN = masked, or `hidden` (boolean, True = masked); not sent where there is a `raw`
    title    e.g. _("Layer 11, head 2"): drawn above, read aloud
    kind     "weights" 0 to 1; "values" 0 to the largest (value-weighted); "diff" and "scores": diverging, centred on 0
    layer, head  which tile of the overview this is, where it is one
    raw      what its weights are computed from, where another mask or scale can be tried
    sentence what is said of one row below the picture
    titles   how any head of the stack is called, and how many heads share one key/value head
    """

    values: NDArray[np.floating]
    title: str = ""
    hidden: NDArray[np.bool_] | None = None
    kind: Literal["weights", "values", "diff", "scores"] = "weights"
    layer: int | None = None
    head: int | None = None
    raw: Raw | None = None
    sentence: SaidOfRow | None = None
    titles: tuple[str, int] | None = None

    @property
    def signed(self) -> bool:
        """Whether the scale has two sides."""
        return self.kind in ("diff", "scores")

    @cached_property
    def largest(self) -> float:
        """The largest magnitude that can be seen."""
        seen = np.isfinite(self.values) if self.hidden is None else np.isfinite(self.values) & ~self.hidden
        return float(np.abs(np.where(seen, self.values, 0)).max(initial=0))


@dataclass(frozen=True)
class Options:
    """How a head is drawn.

    full_range   True: 0 to 1 for weights (-1 to 1 for differences), the same for every head; False: this matrix's own
    root         colours on a square-root scale instead of a linear one
    compact      heatmap only, small: for before, after and difference side by side in one `group`
    chips, lines show the sentence above; show the token lines beside (not in compact)
    segments_q, segments_k   first positions of later segments, drawn as separators
    unit         what a value is called in the colour bar and in sentences, e.g. _("weight")
    top          the end of the scale for several compact views that must compare; None = as full_range says
    called       what the head is called for those who hear it, where its title stands outside of it
    story        True: told of one row, with what it is made of; whole percents; the controls wait behind a word
    """

    full_range: bool = True
    root: bool = False
    compact: bool = False
    chips: bool = True
    lines: bool = True
    segments_q: tuple[int, ...] = ()
    segments_k: tuple[int, ...] = ()
    unit: str = ""
    top: float | None = None
    called: str = ""
    story: bool = False

    def top_of(self, head: Head) -> float:
        """The end of the scale on which this head is shown."""
        fixed = head.kind in ("weights", "diff") and self.full_range
        return self.top or (1.0 if fixed else head.largest) or 1.0


@dataclass(frozen=True)
class HeadScene:
    """Where a head is drawn: among which tokens, how, with what held and changed, and who hears of gestures.

    tokens_q, tokens_k   labels of rows and columns; `tokens_k` None: one sentence looks at itself, and a token that is
                lit in one place is lit in all
    group       views of the same group (the overview's key) light, pin and zoom together; "" = the view's own key
    pins        where pinning starts (from a link); something new replaces what is pinned, and `Pins()` clears
    edit        where the controls of mask and scale start; None: the view has none
    over        heads of this layer whose lines are laid over its own; None: no squares that choose them
    others      computes any head of the overview, so that the browser fetches the one pointed at by itself,
                see `ahead`
    every       an address of `ahead`, which the browser fetches once the first picture stands
    edited_tiles   an address of `ahead` with the tiles of the overview under the edit, for sentences whose
                heads are too many for `every`
    on_pins, on_edit, on_over   called before the rerun, for a gesture in any view of the group
    """

    tokens_q: Sequence[str]
    tokens_k: Sequence[str] | None = None
    options: Options = field(default_factory=Options)
    group: str = ""
    pins: Pins | None = None
    edit: HeadEdit | None = None
    over: Sequence[int] | None = None
    others: Callable[[int, int], Head] | None = None
    every: str | None = None
    edited_tiles: str | None = None
    on_pins: Callable[[Pins], None] | None = None
    on_edit: Callable[[HeadEdit], None] | None = None
    on_over: Callable[[tuple[int, ...]], None] | None = None

    @property
    def keys(self) -> Sequence[str]:
        """Labels of the columns."""
        return self.tokens_q if self.tokens_k is None else self.tokens_k

    @property
    def segments(self) -> tuple[Sequence[int], Sequence[int]]:
        """First rows and first columns of later segments."""
        rows = self.options.segments_q
        return rows, self.options.segments_k or (rows if self.tokens_k is None else ())
