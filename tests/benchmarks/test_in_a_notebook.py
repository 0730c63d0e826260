"""docs/library/notebook.md's tables of what each tool needs in a notebook are those that the benchmark measures."""

import re
from pathlib import Path

import pytest

from benchmarks import in_a_notebook
from tests.browser.conftest import CHROMIUM
from tests.models.conftest import minilm
from tests.own_thread import in_own_thread

__all__ = ["minilm"]

PAGE = Path(__file__).parents[2] / "docs" / "library" / "notebook.md"


def told() -> dict[str, list[str]]:
    """The rows that stand in the page, by the tool's name and version."""
    found = re.search("<!-- in a notebook: .*? -->\n(.*?)<!-- end -->", PAGE.read_text("utf-8"), re.DOTALL)
    assert found is not None
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in found[1].splitlines()[2:]]
    return {name: cells for name, *cells in rows}


def test_the_lines_are_those_of_the_programs() -> None:
    for tool in in_a_notebook.PICTURES:
        (lines,) = (lines for name, (lines, *_) in told().items() if name.startswith(f"{tool.name} "))
        assert lines == str(tool.lines)


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_what_is_measured_now_is_what_is_told(minilm: object) -> None:
    rows = in_own_thread(in_a_notebook.pictures)
    assert len(rows) >= 3, "attnviz and two views of bertviz at least"
    for row in rows:
        name, *measured = row.values()
        before = told()[name]
        size, size_before = (float(cells[1].split()[0]) for cells in (measured, before))
        assert size == pytest.approx(size_before, rel=0.05)
        assert [measured[0], *measured[2:]] == [before[0], *before[2:]]
