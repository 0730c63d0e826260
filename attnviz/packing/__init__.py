"""Attention as bytes that a browser unpacks: NumPy in, bytes out; knows no server, no page and no torch."""

from attnviz.packing.framed_bytes import blob, unblob
from attnviz.packing.raw_scores import RawHead

__all__ = ["RawHead", "blob", "raw_scores", "unblob"]
