"""One blob of bytes: the length of a header (u32, little endian), the header as JSON, and a payload."""

from __future__ import annotations

import json
from typing import Any


def blob(header: dict[str, Any], payload: bytes = b"") -> bytes:
    """`header` and `payload` as one piece; the header must be plain JSON (NaN is refused)."""
    text = json.dumps(header, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    return len(text).to_bytes(4, "little") + text + payload


def unblob(data: bytes) -> tuple[dict[str, Any], bytes]:
    """The header and payload of `blob`."""
    end = 4 + int.from_bytes(data[:4], "little")
    return json.loads(data[4:end]), data[end:]
