"""The notebooks in docs/library/notebooks: every one runs, and what is in the repository is what its source says."""

from pathlib import Path
from typing import Any

import nbformat
import pytest

from scripts import notebooks

SOURCES = notebooks.sources()
by_name = pytest.mark.parametrize("source", SOURCES, ids=[source.stem for source in SOURCES])


def kept(source: Path) -> Any:
    return nbformat.read(notebooks.written(source), as_version=4)


def outputs(made: Any) -> list[Any]:
    return [output for cell in made.cells for output in cell.get("outputs", [])]


@by_name
def test_it_holds_what_its_source_says(source: Path):
    made = kept(source)
    nbformat.validate(made)
    assert [(cell.cell_type, cell.source) for cell in made.cells] == notebooks.cells(source)


@pytest.mark.slow
@by_name
def test_it_runs_now_and_its_claims_hold(source: Path):
    made = notebooks.run(source)
    assert any("assert " in cell.source for cell in made.cells if cell.cell_type == "code")
    assert any("<iframe" in output.get("data", {}).get("text/html", "") for output in outputs(made))
