"""Bytes, FLOPs and seconds in readable units; decimal and binary units are never mixed."""

from __future__ import annotations

from attnviz.base.byte_units import binary, decimal, scaled
from attnviz.base.words import _

__all__ = ["binary", "both", "decimal", "duration", "exact", "flop", "many"]

_FLOP = ("FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP", "ZFLOP")


def both(nbytes: float) -> str:
    """Bytes in decimal and binary units: "1.07 GB = 1 GiB"."""
    return f"{decimal(nbytes)} = {binary(nbytes)}" if nbytes >= 1000 else f"{nbytes:,.0f} B"


def exact(nbytes: int) -> str:
    """Every byte, with decimal units before it from 1,000 bytes on: "1.107 GB = 1,107,296,256 B"."""
    every = f"{nbytes:,} B"
    return f"{decimal(nbytes)} = {every}" if nbytes >= 1000 else every


def flop(count: float) -> str:
    return scaled(count, 1000, _FLOP)


def many(count: float) -> str:
    """A count of parameters in short: "8.03 billion", because "8.03 B" would be read as bytes."""
    for power, name in ((12, _("{n} trillion")), (9, _("{n} billion")), (6, _("{n} million"))):
        if count >= 10**power:
            return name.format(n=f"{count / 10**power:.4g}")
    return f"{count:,}"


def duration(seconds: float) -> str:
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "µs")):
        if seconds * factor >= 1:
            return f"{seconds * factor:,.3g} {unit}"
    return f"{seconds * 1e9:,.3g} ns"
