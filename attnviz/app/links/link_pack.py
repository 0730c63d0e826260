"""A JSON value as short text that fits into a link, compressed and versioned, and back."""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from typing import Any

from attnviz.base.message import Problem

VERSION = "1"
LONGEST = 6 * 1024  # characters; beyond it, proxies and chat programs cut links
LARGEST_UNPACKED = 256 * 1024  # bytes; a link can come from anyone, and a small one can be made to unpack to gigabytes


def pack(value: Any) -> str:
    """A JSON value as short URL-safe text. Problem when it does not fit into a link."""
    raw = json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
    text = VERSION + base64.urlsafe_b64encode(zlib.compress(raw, 9)).decode().rstrip("=")
    if len(text) > LONGEST:
        raise Problem(
            "What is on the canvas takes {size} characters, and a link holds at most {limit}: save this view "
            "as a file instead.",
            size=len(text),
            limit=LONGEST,
        )
    return text


def unpack(text: str) -> Any:
    """The value that `pack` made. Problem when the text was cut or changed on the way."""
    damaged = Problem(
        "The part of this link that holds the picture cannot be read; it was cut or changed. It starts with {start}.",
        start=repr(text[:12]),
    )
    if not text.startswith(VERSION) or len(text) > LONGEST:
        raise damaged
    body = text[len(VERSION) :]
    try:
        squeezed = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))
        machine = zlib.decompressobj()
        raw = machine.decompress(squeezed, LARGEST_UNPACKED)
        if not machine.eof:
            raise damaged
        value = json.loads(raw)
        refuse_half_characters(value)
    except (binascii.Error, zlib.error, ValueError, RecursionError) as cause:
        raise damaged from cause
    return value


def refuse_half_characters(value: Any) -> None:
    """ValueError where JSON's escapes hold half a character (a lone surrogate): no address and no page can hold it."""
    json.dumps(value, ensure_ascii=False).encode()
