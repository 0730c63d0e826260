"""Rows of what was to be reached and what was, each with its verdict."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.tables import late, median, ms, table


@dataclass(frozen=True)
class Row:
    """One budget: the words for what was to be reached and what was, and whether it holds."""

    what: str
    budget: str
    reached: str
    holds: bool
    beside: str = ""


def above(what: str, taken: float, empty: float, more: float, clicks: Mapping[str, float] | None = None) -> Row:
    """A time that may exceed an empty page's by so many milliseconds, and no other tool's under the same click."""
    others = clicks or {}
    return Row(
        what,
        f"floor {empty:.0f} ms, +{more:.0f}",
        f"{ms(taken)}: floor {taken - empty:+.0f}",
        taken <= empty + more and all(taken <= other for other in others.values()),
        ", ".join(f"{name} {ms(value)}" for name, value in others.items()),
    )


def at_most(what: str, taken: float, most: float, said: Callable[[float], str]) -> Row:
    return Row(what, said(most), said(taken), taken <= most)


def spread(what: str, taken: Sequence[float], middle: float, most: float) -> Row:
    """Many times, of which the median and the 95th percentile count. A trace without a frame holds nothing."""
    if len(taken) < 2:
        return Row(what, f"{middle:g} and {most:g} ms", "not measured", holds=False)
    reached = f"{median(taken):.1f} and {late(taken):.1f} ms ({len(taken)} frames)"
    holds = median(taken) <= middle and late(taken) <= most
    return Row(what, f"{middle:g} and {most:g} ms, median and 95%", reached, holds)


def report(rows: Sequence[Row]) -> str:
    """All of them in a table, beside the other tool where it did any of it."""
    parts = [
        "what",
        "to reach",
        "reached",
        "",
        *(["bertviz, the same click"] if any(row.beside for row in rows) else []),
    ]
    cells = ((row.what, row.budget, row.reached, "met" if row.holds else "not met", row.beside) for row in rows)
    return table([dict(zip(parts, row, strict=False)) for row in cells])
