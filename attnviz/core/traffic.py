"""Bytes that attention moves between a slow and a fast memory, whole and in tiles, and the pairs that it computes.

The slow memory holds q, k, v and the output; all computing is done in the fast one, which is small. A number counts
each time it is loaded or stored; no cache lies between. One forward pass of as many queries as keys.

Whole: scores, softmax and output are a step each, which loads its operands once and stores its result: the least that
three steps can move. In tiles: each query head loads a tile of queries once, then every key and value that one of these
queries may see, a few at a time, and stores the output and one number a row, its log-sum-exp. How many keys come at a
time matters for the fast memory alone, as long as the rows of a tile are a multiple of it.
"""

from dataclasses import dataclass

from attnviz.base.message import Problem
from attnviz.core.costs import Counts
from attnviz.core.heads import HeadLayout
from attnviz.core.precision import stored_bytes

SUM_BYTES = 4  #: sums and the scores in the fast memory are float32
STEP = 16  #: keys at a time; tiles have as many rows, or a multiple of it


@dataclass(frozen=True)
class BytesMoved(Counts):
    """Bytes between slow and fast memory, by tensor."""

    q: int
    k: int
    v: int
    scores: int  #: stored by one step and loaded by the next; 0 in tiles
    weights: int  #: the same after the softmax
    output: int
    log_sum: int = 0  #: of each row, float32; none where the matrix is whole


def bytes_of_whole_matrix(layout: HeadLayout, tokens: int, dtype: str = "bfloat16") -> BytesMoved:
    """Bytes with a whole matrix of scores: under a causal mask too, which hides scores that are there."""
    h, g, d, dv = layout.n_heads, layout.kv_heads, layout.qk_width, layout.v_width
    square = 2 * h * tokens * tokens
    numbers = (h * tokens * d, g * tokens * d, g * tokens * dv, square, square, h * tokens * dv)
    return BytesMoved(*(stored_bytes(n, dtype) for n in numbers))


def bytes_in_tiles(
    layout: HeadLayout, tokens: int, rows: int, causal: bool = False, dtype: str = "bfloat16"
) -> BytesMoved:
    """Bytes in tiles of `rows` queries."""
    h, d, dv = layout.n_heads, layout.qk_width, layout.v_width
    tiles = -(-tokens // rows)  # each loads all keys, or under a causal mask those up to its own end
    loaded = h * (rows * tiles * (tiles - 1) // 2 + tokens if causal else tiles * tokens)
    q, k, v, output = (stored_bytes(n, dtype) for n in (h * tokens * d, loaded * d, loaded * dv, h * tokens * dv))
    return BytesMoved(q, k, v, 0, 0, output, SUM_BYTES * h * tokens)


def pairs_in_tiles(tokens: int, rows: int, causal: bool = False) -> int:
    """(query, key) pairs in the tiles that hold a pair which attends."""
    if not causal:
        return tokens * tokens
    full = (tokens - 1) // rows  # tiles of queries that are followed by others
    return rows * rows * full * (full + 1) // 2 + (tokens - full * rows) * tokens


def fast_memory_bytes(layout: HeadLayout, rows: int, keys: int = STEP, dtype: str = "bfloat16") -> int:
    """Bytes at work on a tile: q, k and v; in float32 its scores, the output so far, two numbers a row."""
    d, dv = layout.qk_width, layout.v_width
    return stored_bytes(rows * d + keys * (d + dv), dtype) + SUM_BYTES * rows * (keys + dv + 2)


def largest_tile_rows(layout: HeadLayout, room: int, dtype: str = "bfloat16") -> int:
    """The most rows of a tile, a multiple of 16, that fit into `room` bytes of fast memory."""
    rows = STEP
    while fast_memory_bytes(layout, rows + STEP, dtype=dtype) <= room:
        rows += STEP
    if fast_memory_bytes(layout, rows, dtype=dtype) > room:
        raise Problem(
            "{room} bytes of fast memory are too few for heads {width} wide: tiles of {rows} rows take {least} bytes",
            room=room,
            width=layout.qk_width,
            rows=rows,
            least=fast_memory_bytes(layout, rows, dtype=dtype),
        )
    return rows


def break_even_rows(layout: HeadLayout, tokens: int, causal: bool = False, dtype: str = "bfloat16") -> int | None:
    """The fewest rows of a tile with which tiles move fewer bytes than the whole matrix; None where none do."""
    most = bytes_of_whole_matrix(layout, tokens, dtype).total
    sizes = range(1, min(tokens, 8 * layout.qk_width) + 1)
    return next((n for n in sizes if bytes_in_tiles(layout, tokens, n, causal, dtype).total < most), None)
