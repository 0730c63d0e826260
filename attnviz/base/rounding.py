"""Format numbers and choose plural forms: halves round away from zero; only 0 and 1 are written 0% and 100%.

canvas/shared/numbers.js does the same in the browser; shared cases hold the two together.
"""

import math
import re
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

#: of a format specification: sign, width, digits, and how the number is written
_SPEC = re.compile(r"(\+?)(\d*),?(?:\.(\d+))?([feg%])")
#: The last bits of a sum hang on the order in which it was added, and decide no half: seven digits of a float32 are
#: sure, and of larger numbers three more than are shown.
_SURE, _SPARE = 7, 3
_BY_EXPONENT = 1e7  #: from here on significant digits are written with a power of ten
_EXACTLY_ONE = 1e-9  #: how far a sum of shares that is 1 may be from it


def format_number(value: Any, spec: str) -> str:
    """`value` by a format specification of Python's, rounded as people do: 1/16 by ".1%" is "6.3%".

    >>> [format_number(x, ".1%") for x in (0, 0.0001, 0.0625, 0.9999, 1)]
    ['0.0%', '<0.1%', '6.3%', '>99.9%', '100.0%']
    >>> [format_number(x, ".3g") for x in (0.5, 999.5, 2731.4, 1e7)]
    ['0.5', '1,000', '2,730', '1e+07']
    """
    match = _SPEC.fullmatch(spec)
    if not match or isinstance(value, str) or not math.isfinite(value):
        return format(value, spec)
    sign, width, digits, kind = match.groups()
    number = float(value)
    places = int(digits if digits is not None else 6)
    size = Decimal(repr(abs(number)))
    last = {"f": places, "%": places + 2, "e": places - size.adjusted(), "g": places - 1 - size.adjusted()}[kind]
    sure = max(_SURE - 1 - size.adjusted(), last + _SPARE)
    rounded = float(_round_half_up(_round_half_up(size, sure), last))
    if kind == "%":
        if not rounded and number:
            least = f"{10.0**-last:.{places}%}"
            return (f"<{least}" if number > 0 else f">-{least}").rjust(int(width or 0))
        if rounded == 1 and 1 - abs(number) > _EXACTLY_ONE:
            most = f"{1 - 10.0**-last:.{places}%}"
            return (f">{sign}{most}" if number > 0 else f"<-{most}").rjust(int(width or 0))
    if kind == "g" and 10 ** max(places, 1) <= abs(rounded) < _BY_EXPONENT:
        spec = f"{sign}{width},.0f"  # Python would write 2.73e+03
    return format(math.copysign(rounded, number) if rounded else 0.0, spec)


def _round_half_up(size: Decimal, places: int) -> Decimal:
    """Round `size` half up to `places` decimal places."""
    exponent = size.as_tuple().exponent
    if isinstance(exponent, str) or -exponent <= places:
        return size
    return size.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)


def _english_plural(number: int) -> int:
    """Which of two forms English has for a number of things."""
    return int(number != 1)


class Rounded:
    """A number that a template rounds by `format_number`, or whose noun it chooses: "{n} {n:token|tokens}"."""

    __slots__ = ("number", "plural")

    def __init__(self, number: Any, plural: Callable[[int], int] = _english_plural) -> None:
        self.number, self.plural = number, plural

    def __format__(self, spec: str) -> str:
        if "|" not in spec:
            return format_number(self.number, spec)
        forms = spec.split("|")
        return forms[min(self.plural(self.number), len(forms) - 1)]

    def __str__(self) -> str:
        return str(self.number)


class Template(str):
    """A sentence whose `format` rounds numbers, and chooses nouns by `plural`, as gettext does for a language."""

    plural: Callable[[int], int]

    def __new__(cls, text: str, plural: Callable[[int], int] | None = None) -> "Template":
        template = super().__new__(cls, text)
        template.plural = plural or _english_plural
        return template

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)  # a language's rule cannot be pickled, and is not missed: what is kept is filled in

    def format(self, *args: object, **params: object) -> str:
        return str.format(
            self, *map(self._wrap_number, args), **{name: self._wrap_number(value) for name, value in params.items()}
        )

    def _wrap_number(self, value: object) -> object:
        return value if isinstance(value, str) or not hasattr(value, "__float__") else Rounded(value, self.plural)
