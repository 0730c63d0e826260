"""Numbers as readable text, and tables of them."""

import statistics
from collections.abc import Iterable, Mapping, Sequence


def median(values: Iterable[float]) -> float:
    return statistics.median(values)


def late(values: Iterable[float]) -> float:
    """The 95th percentile."""
    return statistics.quantiles(values, n=20, method="inclusive")[-1]


def size(nbytes: float) -> str:
    """A number of bytes as readable text."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6)):
        if nbytes >= scale:
            return f"{nbytes / scale:.1f} {unit}"
    return f"{nbytes / 1e3:.0f} KB"


def ms(value: float) -> str:
    return f"{value:,.0f} ms"


def times(mine: float, theirs: float | None) -> str:
    """`theirs` as a multiple of `mine`, as text."""
    if theirs is None:
        return ""
    share = theirs / mine
    return f"{share:.1f}x" if share < 10 else f"{share:,.0f}x"


def table(rows: Sequence[Mapping[str, str]]) -> str:
    """A Markdown table, its first column aligned left; a row that lacks a column is empty there."""
    head = list(dict.fromkeys(name for row in rows for name in row))
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *([row.get(name, "") for name in head] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
