"""Sizes that must lie within limits, or divide each other: refused in one sentence that names both numbers."""

from collections.abc import Mapping

from attnviz.base.message import Problem


def require_between(name: str, value: float, low: float, high: float) -> None:
    """Raise a Problem unless `low <= value <= high`."""
    if not low <= value <= high:
        raise Problem("{name}={value} must lie between {low} and {high}", name=name, value=value, low=low, high=high)


def require_within(config: object, limits: Mapping[str, tuple[float, float]]) -> None:
    """Raise a Problem for the first field of `config` that lies outside its (lowest, highest)."""
    for name, (low, high) in limits.items():
        require_between(name, getattr(config, name), low, high)


def require_multiple(name: str, value: int, part: str, of: int) -> None:
    """Raise a Problem unless `value` is a multiple of `of`, which is at least 1."""
    if of < 1 or value % of:
        raise Problem("{name}={value} must be a multiple of {part}={of}", name=name, value=value, part=part, of=of)
