"""One blob of bytes: the length of a header (3 bytes, little endian), a version, the header as JSON, a payload.

A blob that was made before there were versions has 0 there, and reads as it did.
"""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

VERSION = 1  #: `VERSION` of canvas/shared/packing.js is the same


def pack_blob(header: dict[str, Any], payload: bytes = b"") -> bytes:
    """`header` and `payload` as one piece; the header must be JSON (NaN is refused), dataclasses are its objects."""
    text = json.dumps(header, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=vars).encode()
    text += b" " * (-len(text) % 4)
    return len(text).to_bytes(3, "little") + bytes([VERSION]) + text + payload


def unpack_blob(data: bytes) -> tuple[dict[str, Any], bytes]:
    """The header and payload of `blob`. ValueError where a later version made it."""
    if data[3] > VERSION:
        raise ValueError(f"version {data[3]} of the format is not known; the latest is {VERSION}")
    end = 4 + int.from_bytes(data[:3], "little")
    return json.loads(data[4:end]), data[end:]


def fingerprint(*values: object) -> str:
    """A short hash of the values: equal content gives an equal hash."""
    digest = hashlib.blake2b(digest_size=8)
    for value in values:
        digest.update(value if isinstance(value, bytes) else repr(value).encode())
        digest.update(b"\x1f")
    return digest.hexdigest()


def pack_bits(grid: NDArray[np.bool_]) -> bytes:
    """A boolean grid, row by row, eight cells a byte, the first cell in the highest bit."""
    return np.packbits(np.asarray(grid, bool)).tobytes()


def unpack_bits(data: bytes, shape: Sequence[int]) -> NDArray[np.bool_]:
    """The grid of `pack_bits`; ValueError if the length does not fit the shape."""
    rows, cols = shape
    if len(data) != -(-rows * cols // 8):
        raise ValueError(f"{len(data)} bytes do not hold {rows} x {cols} cells")
    return np.unpackbits(np.frombuffer(data, np.uint8), count=rows * cols).reshape(rows, cols).astype(bool)
