"""Bytes, FLOPs and seconds in readable units; decimal and binary units are never mixed."""

from attnviz.base.rounding import Rounded
from attnviz.base.words import _

_DECIMAL = ("B", "kB", "MB", "GB", "TB", "PB", "EB")
_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_FLOP = ("FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP", "ZFLOP")


class Quantity(str):
    """A formatted number such as "4 GiB"; exports use its `number` and `unit`."""

    number: float
    unit: str


def format_quantity(text: str, number: float, unit: str) -> Quantity:
    quantity = Quantity(text)
    quantity.number, quantity.unit = number, unit
    return quantity


def decimal(nbytes: float) -> str:
    """1,073,741,824 -> "1.074 GB"."""
    return _format_scaled(nbytes, 1000, _DECIMAL)


def binary(nbytes: float) -> str:
    """1,073,741,824 -> "1 GiB"."""
    return _format_scaled(nbytes, 1024, _BINARY)


def decimal_and_binary(nbytes: float) -> str:
    """Bytes in decimal and binary units: "1.07 GB = 1 GiB"."""
    return f"{decimal(nbytes)} = {binary(nbytes)}" if nbytes >= 1000 else f"{Rounded(nbytes):,.0f} B"


def exact_bytes(nbytes: int) -> str:
    """Every byte, with decimal units before it from 1,000 bytes on: "1.107 GB = 1,107,296,256 B"."""
    every = f"{nbytes:,} B"
    return format_quantity(f"{decimal(nbytes)} = {every}" if nbytes >= 1000 else every, nbytes, _BINARY[0])


def binary_unit(most: float) -> tuple[str, int]:
    """The unit for an axis that reaches `most` bytes, and how many bytes it is: "MiB", 1,048,576."""
    power = _power(most, 1024, len(_BINARY))
    return _BINARY[power], 1024**power


def percent(share: float) -> str:
    """0.125 -> "12.5%"."""
    return format_quantity(f"{Rounded(share):.1%}", 100 * share, "%")


def flop(count: float) -> str:
    return _format_scaled(count, 1000, _FLOP)


def format_count(count: float) -> str:
    """A count of parameters in short: "8.03 billion", because "8.03 B" would be read as bytes."""
    for power, name in ((12, _("{n} trillion")), (9, _("{n} billion")), (6, _("{n} million"))):
        if count >= 10**power:
            return name.format(n=f"{Rounded(count / 10**power):.4g}")
    return f"{count:,}"


def duration(seconds: float) -> str:
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "µs")):
        if seconds * factor >= 1:
            return format_quantity(f"{Rounded(seconds * factor):,.3g} {unit}", seconds, "s")
    return format_quantity(f"{Rounded(seconds * 1e9):,.3g} ns", seconds, "s")


def _format_scaled(value: float, step: int, names: tuple[str, ...]) -> str:
    """A number in the largest unit that it fills; `names` are units, each `step` times the one before."""
    power = _power(value, step, len(names))
    text = f"{Rounded(value / step**power):,.4g} {names[power]}" if power else f"{Rounded(value):,.0f} {names[0]}"
    return format_quantity(text, value, names[0])


def _power(value: float, step: int, names: int) -> int:
    power = 0
    while abs(value) >= step and power + 1 < names:
        value, power = value / step, power + 1
    return power
