"""Bytes in readable units; decimal and binary units are never mixed. Knows nobody."""

from __future__ import annotations

_DECIMAL = ("B", "kB", "MB", "GB", "TB", "PB", "EB")
_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def decimal(nbytes: float) -> str:
    """1,073,741,824 -> "1.074 GB"."""
    return scaled(nbytes, 1000, _DECIMAL)


def binary(nbytes: float) -> str:
    """1,073,741,824 -> "1 GiB"."""
    return scaled(nbytes, 1024, _BINARY)


def binary_unit(most: float) -> tuple[str, int]:
    """The unit for an axis that reaches `most` bytes, and how many bytes it is: "MiB", 1,048,576."""
    power = _power(most, 1024, len(_BINARY))
    return _BINARY[power], 1024**power


def scaled(value: float, step: int, names: tuple[str, ...]) -> str:
    """A number in the largest unit that it fills; `names` are units, each `step` times the one before."""
    power = _power(value, step, len(names))
    return f"{value / step**power:,.4g} {names[power]}" if power else f"{value:,.0f} {names[0]}"


def _power(value: float, step: int, names: int) -> int:
    power = 0
    while abs(value) >= step and power + 1 < names:
        value, power = value / step, power + 1
    return power
