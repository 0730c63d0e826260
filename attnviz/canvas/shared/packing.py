"""Pack data for the browser: one blob of bytes, and numbers as 16-bit or 8-bit codes.

A blob is the length of its header and the version of the format (`base/packed.py`), the header (JSON, padded with
spaces to a multiple of 4) and the payload. Values are coded on a square-root scale, so that small weights keep
their digits: with `top` the largest magnitude,

    16 bits, 0 to top       code = round(sqrt(v / top) * 65534)                     65535 = masked
    16 bits, -top to top    code = 32767 + round(sign(v) * sqrt(|v| / top) * 32767)  65535 = masked
     8 bits, 0 to top       code = round(sqrt(v / top) * 254)                          255 = masked

A 16-bit weight is off by at most 1.6e-5 (half precision: 2.4e-4), so four digits on hover are right.
"""

import base64
import zlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from attnviz.base.packed import fingerprint, pack_blob, unpack_bits, unpack_blob

MASKED_16 = 65535
MASKED_8 = 255
THUMBNAIL_SIDE = 32
LARGEST_KEPT = 2**18  #: bytes; 48 of them are 12 MB


def deflate(payload: bytes, runs: bool = False) -> bytes:
    """zlib at its fastest, what DecompressionStream("deflate") reads; `runs` only: faster and smaller for `planes`.

    A class looks at the same pictures: what is not too large is compressed for all of it at once.
    """
    return (_compress_cached if len(payload) <= LARGEST_KEPT else _compress)(payload, runs)


def _compress(payload: bytes, runs: bool) -> bytes:
    packer = zlib.compressobj(1, zlib.DEFLATED, zlib.MAX_WBITS, 9, zlib.Z_RLE if runs else zlib.Z_DEFAULT_STRATEGY)
    return packer.compress(payload) + packer.flush()


_compress_cached = lru_cache(maxsize=48)(_compress)


def json_numbers(values: NDArray[np.floating], digits: int) -> list[float | None]:
    """Numbers for JSON, rounded to `digits` after the point; None for NaN and infinity."""
    return [round(float(value), digits) if np.isfinite(value) else None for value in values]


def parse_bits(bits: object, shape: Sequence[int]) -> NDArray[np.bool_] | None:
    """The grid that the browser sent, or that a link holds, as base64 of its bits; None where it is not one."""
    try:
        return unpack_bits(base64.b64decode(bits, validate=True), shape) if isinstance(bits, str) else None
    except ValueError:
        return None


def encode16(values: NDArray[np.floating], hidden: NDArray[np.bool_] | None, top: float, signed: bool) -> NDArray:
    """Values as uint16 codes, clipped to the scale; hidden and non-finite cells are MASKED_16."""
    with np.errstate(invalid="ignore"):
        share = np.asarray(values, np.float32) / np.float32(top or 1.0)
        if signed:
            root = np.sign(share) * np.sqrt(np.minimum(np.abs(share), 1))
            codes = 32767 + np.rint(root * 32767)
        else:
            codes = np.rint(np.sqrt(np.clip(share, 0, 1)) * 65534)
    gone = ~np.isfinite(values) if hidden is None else hidden | ~np.isfinite(values)
    return np.where(gone, MASKED_16, codes).astype("<u2")


def decode16(codes: NDArray[np.uint16], top: float, signed: bool) -> NDArray[np.float32]:
    """The values that the browser reads from such codes, NaN where hidden."""
    root = (codes - 32767.0) / 32767 if signed else codes / 65534
    return np.where(codes == MASKED_16, np.nan, np.abs(root) * root * (top or 1.0)).astype(np.float32)


def split_bytes(codes: NDArray[np.uint16]) -> bytes:
    """High bytes, then low bytes: the two halves compress better apart."""
    pairs = np.ascontiguousarray(codes.astype("<u2")).view(np.uint8).reshape(-1, 2)
    return pairs[:, 1].tobytes() + pairs[:, 0].tobytes()


def make_thumbnails(
    weights: NDArray[np.floating], hidden: NDArray[np.bool_] | None = None, side: int = THUMBNAIL_SIDE
) -> NDArray[np.uint8]:
    """uint8 pictures (..., q, k), at most `side` a side, of weights (..., Q, K) between 0 and 1.

    A thumbnail's cell is the largest weight it covers, so that a single bright cell never vanishes;
    it is masked only where all it covers is. NaN and what is negative count as hidden.
    """
    values = np.asarray(weights, np.float32)
    if hidden is not None:
        values = np.where(hidden, np.float32(-1), values)
    small = _largest_of_blocks(values, side)
    if np.isnan(small).any():
        small = _largest_of_blocks(np.where(np.isfinite(values), values, np.float32(-1)), side)
    return thumbnail_codes(small)


def thumbnail_codes(small: NDArray[np.floating]) -> NDArray[np.uint8]:
    """Weights between 0 and 1 as uint8 codes; what is negative is masked."""
    codes = np.rint(np.sqrt(np.clip(small, 0, 1)) * 254)
    return np.where(small < 0, MASKED_8, codes).astype(np.uint8)


def _largest_of_blocks(values: NDArray[np.float32], side: int) -> NDArray[np.float32]:
    """The largest of each of at most `side` x `side` blocks of (..., Q, K). Whole slices at a time: fast."""
    high = values.take(_blocks(values.shape[-2], side), -2).max(-3)  # (..., blocks, K)
    return high.take(_blocks(values.shape[-1], side), -1).max(-2)


def _blocks(n: int, side: int) -> NDArray[np.intp]:
    """The positions of each block, (longest, blocks); a shorter block names its last one twice."""
    ends = np.arange(min(n, side) + 1) * n // min(n, side)
    return np.minimum(ends[:-1] + np.arange(np.diff(ends).max())[:, None], ends[1:] - 1)


__all__ = [
    "MASKED_8",
    "MASKED_16",
    "THUMBNAIL_SIDE",
    "decode16",
    "deflate",
    "encode16",
    "fingerprint",
    "json_numbers",
    "make_thumbnails",
    "pack_blob",
    "parse_bits",
    "split_bytes",
    "unpack_blob",
]
