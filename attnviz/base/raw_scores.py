"""Raw scores of heads as bytes, with mask, bias and sinks. canvas/shared/raw_scores.js reads them.

A score is a whole number of steps above the lowest of its row. 16 bits make 65,535 steps of it, which is enough for a
row that is `WIDEST` wide after the model's scale: no weight is then off by more than 2e-4 at the model's scale, nor by
more than 2e-3 at ten times that. A row that is wider has 24 bits, which only its own cells pay for. The exact form is
float32; a head that is on show alone comes in it, as its q and k where it has them, else as scores.

Sections of the payload, one after the other, N heads of Q rows of K cells:

    16 bits   low (N Q) · step (N Q), of each the first half of a float32 · which rows are wide, as bits (N Q) ·
              high bytes · middle bytes · low bytes of wide rows only
    32 bits   float32 (N Q K); of one head that has them, q float32 (Q D) · k float32 (K D)
    both      masks as bits, each from a byte of its own · padding as bits · biases as float32 · sinks as float32

The lowest of a row is rounded down and its step up. A mask or bias that several heads share is sent once.
"""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from attnviz.base.head_record import HeadData, PackedHeads

STEPS_16, STEPS_24 = 2**16 - 1, 2**24 - 1

#: A row's range after scaling, up to which 16 bits do. Half a step is an error e of a scaled score; where all others
#: are off the other way, a weight w moves by 2 e w (1 - w) <= e / 2, and e / 2 = 2e-4 is 52 wide.
WIDEST = 4 * 2e-4 * STEPS_16


def pack(heads: Sequence[HeadData], bits: Literal[16, 32] = 16) -> tuple[PackedHeads, bytes]:
    """A header and a payload of heads of one shape. ValueError where shapes differ or a score is no finite number."""
    scores = np.stack([np.asarray(head.scores, np.float32) for head in heads])
    if not np.isfinite(scores).all():
        raise ValueError("a score is not finite")
    masks, mask_of = _deduplicate([np.packbits(head.mask) for head in heads])
    biases, bias_of = _deduplicate([None if head.bias is None else head.bias.astype("<f4") for head in heads])
    sinks = [head.sink for head in heads]
    padding = heads[0].padding
    vectors = _encode_vectors(heads) if bits == 32 else None
    header = PackedHeads(
        bits,
        vectors is not None,
        len(heads),
        (int(scores.shape[1]), int(scores.shape[2])),
        _merge_equal([head.scale for head in heads]),
        _merge_equal([head.width for head in heads]),
        _merge_equal([head.exact for head in heads]),
        _merge_equal([head.softcap for head in heads]),
        mask_of,
        bias_of,
        padding is not None,
        sinks[0] is not None,
    )
    scales = np.array([head.scale if head.exact else 1.0 for head in heads])
    score_bytes = _encode_scores(scores, scales) if bits == 16 else vectors or [scores.astype("<f4").tobytes()]
    padding_bytes = [] if padding is None else [np.packbits(padding).tobytes()]
    sink_bytes = [] if sinks[0] is None else [np.array(sinks, "<f4").tobytes()]
    return header, b"".join([*score_bytes, *masks, *padding_bytes, *biases, *sink_bytes])


def _encode_vectors(heads: Sequence[HeadData]) -> list[bytes] | None:
    """q and k of the one head there is, if it has them: how a score came about is told of them."""
    q, k = heads[0].q, heads[0].k
    if len(heads) > 1 or q is None or k is None:
        return None
    return [q.astype("<f4").tobytes(), k.astype("<f4").tobytes()]


def _encode_scores(scores: NDArray[np.float32], scales: NDArray[np.float64]) -> list[bytes]:
    """The sections of 16-bit scores (N, Q, K), whose model multiplies them by `scales` (N,)."""
    exact = scores.astype(np.float64)
    low = _round_to_16_bits(exact.min(-1), up=False)
    width = exact.max(-1) - low  # (N, Q)
    wide = width * np.abs(scales)[:, None] > WIDEST
    steps = np.where(wide, STEPS_24, STEPS_16)
    step = _round_to_16_bits(width / steps, up=True)
    codes = (exact - low[..., None]) / np.where(step > 0, step, 1)[..., None]
    rounded: NDArray[np.uint32] = np.minimum(np.rint(codes), steps[..., None]).astype(np.uint32)
    shifted = np.where(wide[..., None], rounded, rounded * 256)
    parts = [(shifted >> shift).astype(np.uint8) for shift in (16, 8)]
    planes = [plane.tobytes() for plane in parts] + [shifted[wide].astype(np.uint8).tobytes()]
    return [_first_half(low), _first_half(step), np.packbits(wide).tobytes(), *planes]


def _round_to_16_bits(values: NDArray[np.float64], up: bool) -> NDArray[np.float64]:
    """The nearest numbers not above, or not below, that the first half of a float32 can hold."""
    truncated = values.astype("<f4").view("<u4") & 0xFFFF0000
    at = truncated.view("<f4").astype(np.float64)
    towards_0 = at < values if up else at > values  # cutting off the second half went the other way
    return np.where(towards_0, (truncated + 0x10000).view("<f4"), truncated.view("<f4")).astype(np.float64)


def _first_half(values: NDArray[np.float64]) -> bytes:
    return (values.astype("<f4").view("<u4") >> 16).astype("<u2").tobytes()


def _merge_equal(values: list[Any]) -> Any:
    """The one value of all heads, or a list of each head's."""
    return values[0] if all(value == values[0] for value in values) else values


def _deduplicate(arrays: Sequence[NDArray[Any] | None]) -> tuple[list[bytes], Any]:
    """Different arrays as bytes, and which of them each head has: a list, one number for all, or None."""
    places: dict[bytes, int] = {}
    which = [None if array is None else places.setdefault(array.tobytes(), len(places)) for array in arrays]
    return list(places), _merge_equal(which)
