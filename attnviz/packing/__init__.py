"""Attention as bytes that a browser unpacks: NumPy in, bytes out; knows no server, no page and no torch."""

from attnviz.packing.raw_scores import RawHead

__all__ = ["RawHead", "raw_scores"]
