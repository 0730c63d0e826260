"""Numbers as sentences print them: each with the worth of one in its last place."""

from __future__ import annotations

import re
from collections.abc import Iterator

NUMBER = re.compile(r"(?<![\w#.])[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[-+]?\d+)?(?![\w]*#)", re.IGNORECASE)
COLOUR = re.compile(r"#[0-9A-Fa-f]{6}")
NOISE = 1e-5


class Printed(float):
    """A number, and the worth of one in its last place: 0 for a count, which nobody rounded."""

    unit: float

    def __new__(cls, value: float, unit: float = 0.0) -> Printed:
        made = super().__new__(cls, value)
        made.unit = unit
        return made


def numbers(text: str) -> Iterator[Printed]:
    """The numbers in a sentence, rounding noise left out."""
    plain = COLOUR.sub(" ", text).replace("−", "-")
    for found in NUMBER.finditer(plain):
        digits = found[0].lower().replace(",", "")
        value = abs(float(digits))
        if not ("e" in digits and value < NOISE):
            is_share = re.match(r"\s?\\?%", plain[found.end() :])
            yield Printed(value, unit_of(digits) if "." in digits or is_share else 0.0)


def unit_of(digits: str) -> float:
    """The worth of one in the last place."""
    _whole, _point, decimals = digits.partition("e")[0].partition(".")
    return 10.0 ** (int(digits.partition("e")[2] or 0) - len(decimals))
