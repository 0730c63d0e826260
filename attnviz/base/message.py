"""A sentence as a template and the values that fill it, kept apart so that the template can be translated.

A Problem is such a sentence, raised; among them those of sizes outside their limits.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from numbers import Integral
from typing import TypeVar

from attnviz.base.rounding import Template

T = TypeVar("T")
#: what reading a value that a visitor sent may raise, by a link or by a gesture: an answer in words, not an error
NONSENSE = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError)


@dataclass(frozen=True)
class MessageList:
    """A list inside a Message. `str()` joins it in English.

    Languages separate list members differently, so `attnviz.base.words.translate_value` joins them.
    """

    values: Collection[object]

    def __str__(self) -> str:
        return ", ".join(map(str, self.values))


@dataclass(frozen=True)
class Message:
    """An English template with named fields, and their values. `str()` formats it in English.

    The template is also the key that `attnviz.base.words.translate_message` looks a translation up by.
    """

    template: str
    params: Mapping[str, object] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        return Template(self.template).format(**self.params)


class Problem(ValueError):
    """An input that cannot be accepted, explained in one sentence that names the value and what is allowed.

    >>> raise Problem("n_heads={n_heads} must be a multiple of n_kv_heads={n_kv_heads}", n_heads=6, n_kv_heads=4)
    """

    def __init__(self, template: str, /, **params: object) -> None:
        self.message = Message(template, params)
        super().__init__(str(self.message))


class MissingDependency(Problem):
    """Something that a page needs is missing on this machine; no input is at fault."""


def require_between(name: str, value: float, low: float, high: float) -> None:
    """Raise a Problem unless `low <= value <= high`."""
    if not low <= value <= high:
        raise Problem("{name}={value} must lie between {low} and {high}", name=name, value=value, low=low, high=high)


def require_at_least(name: str, value: float, least: int) -> None:
    """Raise a Problem unless `value` is `least` or more."""
    if not value >= least:
        raise Problem("{name}={value} must be at least {least}", name=name, value=value, least=least)


def require_whole(name: str, value: object, least: int = 1, most: int | None = None) -> int:
    """The `value`; raises a Problem unless it is a whole number from `least`, to `most` if that is given."""
    whole = int(value) if isinstance(value, Integral) and not isinstance(value, bool) else least - 1
    if most is not None and not least <= whole <= most:
        limits = {"least": least, "most": most}
        raise Problem("{name}={value} must be a whole number from {least} to {most}", name=name, value=value, **limits)
    if whole < least:
        raise Problem("{name}={value} must be a whole number of at least {least}", name=name, value=value, least=least)
    return whole


def require_one_of(name: str, value: T, allowed: Collection[T]) -> T:
    """The `value`; raises a Problem unless it is one of those `allowed`."""
    if value not in allowed:
        raise Problem("{name}={value} must be one of {allowed}", name=name, value=value, allowed=MessageList(allowed))
    return value


def require_within(config: object, limits: Mapping[str, tuple[float, float]]) -> None:
    """Raise a Problem for the first field of `config` that lies outside its (lowest, highest)."""
    for name, (low, high) in limits.items():
        require_between(name, getattr(config, name), low, high)


def require_multiple(name: str, value: int, divisor_name: str, divisor: int) -> None:
    """Raise a Problem unless `value` is a multiple of `divisor`, which must be at least 1."""
    if divisor < 1 or value % divisor:
        raise Problem(
            "{name}={value} must be a multiple of {part}={of}", name=name, value=value, part=divisor_name, of=divisor
        )
