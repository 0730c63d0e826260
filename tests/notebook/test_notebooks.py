"""The notebooks in docs/library/notebooks: every one runs, and what is in the repository is what its source says."""

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient.exceptions import CellExecutionError

from scripts import notebooks

SOURCES = notebooks.sources()
MOST_BYTES = 200_000
by_name = pytest.mark.parametrize("source", SOURCES, ids=[source.stem for source in SOURCES])


def kept(source: Path) -> Any:
    return nbformat.read(notebooks.written(source), as_version=4)


def outputs(made: Any) -> list[Any]:
    return [output for cell in made.cells for output in cell.get("outputs", [])]


def test_every_notebook_has_a_source_and_is_pointed_to():
    assert SOURCES
    assert sorted(notebooks.FOLDER.glob("*.ipynb")) == [notebooks.written(source) for source in SOURCES]
    text = (notebooks.ROOT / "docs/library/notebook.md").read_text("utf-8")
    for source in SOURCES:
        assert f"notebooks/{source.stem}.ipynb)" in text, source.stem


@by_name
def test_it_holds_what_its_source_says(source: Path):
    made = kept(source)
    nbformat.validate(made)
    assert [(cell.cell_type, cell.source) for cell in made.cells] == notebooks.cells(source)


@by_name
def test_it_was_run_from_top_to_bottom_without_an_error_or_a_warning(source: Path):
    made = kept(source)
    code = [cell for cell in made.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert not [each for each in outputs(made) if each.output_type == "error" or each.get("name") == "stderr"]


@by_name
def test_it_is_light_and_has_a_still_picture(source: Path):
    assert notebooks.written(source).stat().st_size < MOST_BYTES
    shown = [output.get("data", {}) for output in outputs(kept(source))]
    assert any("image/svg+xml" in data for data in shown)
    assert not any("<iframe" in data.get("text/html", "") for data in shown)


@by_name
def test_its_links_lead_to_files(source: Path):
    text = "\n".join(text for kind, text in notebooks.cells(source) if kind == "markdown")
    assert not [link for link in re.findall(r"\]\(([^)#:]+)\)", text) if not (source.parent / link).exists()]


@pytest.mark.slow
@by_name
def test_it_runs_now_and_its_claims_hold(source: Path):
    made = notebooks.run(source)
    assert any("assert " in cell.source for cell in made.cells if cell.cell_type == "code")
    assert any("<iframe" in output.get("data", {}).get("text/html", "") for output in outputs(made))


@pytest.mark.slow
def test_a_claim_that_does_not_hold_stops_the_run(tmp_path: Path):
    source = tmp_path / "wrong.py"
    source.write_text("# %% [markdown]\n# # One and one\n# %%\nassert 1 + 1 == 3\n", "utf-8")
    with pytest.raises(CellExecutionError, match="AssertionError"):
        notebooks.run(source)


def test_text_and_code_are_told_apart(tmp_path: Path):
    source = tmp_path / "small.py"
    source.write_text("# %% [markdown]\n# # Title\n#\n# Words.\n\n# %%\n# a comment\nx = 1\n\n\n# %%\nx\n", "utf-8")
    assert notebooks.cells(source) == [
        ("markdown", "# Title\n\nWords."),
        ("code", "# a comment\nx = 1"),
        ("code", "x"),
    ]
