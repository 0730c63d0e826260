"""The README's tables of what each tool needs in a notebook are those that the benchmark measures."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import pytest

from benchmarks import in_a_notebook
from tests.browser.conftest import CHROMIUM
from tests.models.conftest import minilm

__all__ = ["minilm"]

README = Path(__file__).parents[2] / "README.md"
T = TypeVar("T")


def told() -> list[dict[str, str]]:
    """The rows that stand in the README, each by its columns."""
    found = re.search("<!-- in a notebook: .*? -->\n(.*?)<!-- end -->", README.read_text("utf-8"), re.DOTALL)
    assert found is not None
    rows = []
    for table in found[1].strip().split("\n\n"):
        head, _, *lines = ([cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines())
        rows += [dict(zip(head, cells, strict=True)) for cells in lines]
    return rows


def of(name: str, column: str) -> dict[str, str]:
    """The row of one tool in the table that has this column."""
    (row,) = (row for row in told() if column in row and next(iter(row.values())).startswith(f"{name} "))
    return row


def alone(measure: Callable[[], T]) -> T:
    """What a thread of its own measures: Playwright, if other tests of this process hold it, takes one in each."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(measure).result()


def test_the_lines_are_those_of_the_programs() -> None:
    for tool in in_a_notebook.PICTURES:
        assert of(tool.name, "the cell holds")["lines after the import"] == str(tool.lines)
    for tool in in_a_notebook.KNOCKOUTS:
        assert of(tool.name, "lines")["lines"] == str(tool.lines)


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_what_is_measured_now_is_what_is_told(minilm: object) -> None:
    rows = alone(in_a_notebook.pictures)
    assert len(rows) >= 3, "attnviz and two views of bertviz at least"
    for row in rows:
        name, *measured = row.values()
        (before,) = (
            [*row.values()][1:] for row in told() if "the cell holds" in row and next(iter(row.values())) == name
        )
        size, size_before = (float(cells[1].split()[0]) for cells in (measured, before))
        assert size == pytest.approx(size_before, rel=0.05)
        assert [measured[0], *measured[2:]] == [before[0], *before[2:]]


@pytest.mark.slow
def test_every_knockout_comes_to_the_same_logits() -> None:
    rows = in_a_notebook.knockouts()  # raises where one does not
    assert len(rows) == len(in_a_notebook.KNOCKOUTS)
