"""Rows of a table of what was to be reached and what was, each with its verdict."""

from collections.abc import Callable, Mapping, Sequence

from benchmarks.tables import late, median, ms

Row = dict[str, str]


def row(what: str, budget: str, reached: str, holds: bool) -> Row:
    return {"what": what, "to reach": budget, "reached": reached, "": "met" if holds else "not met"}


def above(what: str, taken: float, empty: float, more: float, clicks: Mapping[str, float] | None = None) -> Row:
    """A time that may exceed an empty page's by so many milliseconds, and no other tool's under the same click."""
    others = clicks or {}
    holds = taken <= empty + more and all(taken <= other for other in others.values())
    told = row(what, f"floor {empty:.0f} ms, +{more:.0f}", f"{ms(taken)}: floor {taken - empty:+.0f}", holds)
    return told | {"bertviz, the same click": ", ".join(f"{name} {ms(value)}" for name, value in others.items())}


def at_most(what: str, taken: float, most: float, said: Callable[[float], str]) -> Row:
    return row(what, said(most), said(taken), taken <= most)


def spread(what: str, taken: Sequence[float], middle: float, most: float) -> Row:
    """Many times, of which the median and the 95th percentile count. A trace without a frame holds nothing."""
    if len(taken) < 2:
        return row(what, f"{middle:g} and {most:g} ms", "not measured", holds=False)
    reached = f"{median(taken):.1f} and {late(taken):.1f} ms ({len(taken)} frames)"
    holds = median(taken) <= middle and late(taken) <= most
    return row(what, f"{middle:g} and {most:g} ms, median and 95%", reached, holds)
