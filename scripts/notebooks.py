"""Run the notebooks' sources and write them with light outputs.

    python -m scripts.notebooks                  all of docs/library/notebooks
    python -m scripts.notebooks induction_heads  some of them

A source is a Python file in cells (`# %%`, and `# %% [markdown]` for text), which editors and git read easily. In the
notebook that is written, a live picture is replaced by its still one: whoever runs the notebook has the live one back.
"""

import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "library" / "notebooks"
#: the kernel says nothing of itself, and works with one thread, on this checkout
QUIET = {
    "PYTHONPATH": str(ROOT),
    "OMP_NUM_THREADS": "1",
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "PYTHONWARNINGS": "ignore:IProgress not found",
}
_START = re.compile(r"^# %%(?P<text> \[markdown\])?$", re.MULTILINE)


def sources() -> list[Path]:
    """The notebooks' sources, by name."""
    return sorted(FOLDER.glob("*.py"))


def written(source: Path) -> Path:
    """The notebook that is made from a source."""
    return source.with_suffix(".ipynb")


def cells(source: Path) -> list[tuple[str, str]]:
    """("markdown" or "code", its content) of each cell of a source."""
    text = source.read_text("utf-8")
    starts = list(_START.finditer(text))
    ends = [each.start() for each in starts[1:]] + [len(text)]
    parts = [(each["text"], text[each.end() : end].strip()) for each, end in zip(starts, ends, strict=True)]
    return [("markdown", _uncommented(part)) if said else ("code", part) for said, part in parts]


def notebook(source: Path) -> Any:
    """The notebook of a source, not yet run."""
    made: Any = nbformat.v4.new_notebook()
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    for number, (kind, text) in enumerate(cells(source)):
        cell = nbformat.v4.new_markdown_cell(text) if kind == "markdown" else nbformat.v4.new_code_cell(text)
        cell["id"] = f"cell-{number}"  # the same in every run
        made.cells.append(cell)
    return made


def run(source: Path, seconds: int = 300) -> Any:
    """The notebook with all that its cells came to; the first cell that fails raises nbclient's CellExecutionError."""
    made = notebook(source)
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(made, timeout=seconds, resources={"metadata": {"path": folder}}, record_timing=False)
        client.execute(env=os.environ | QUIET)
    made.metadata["language_info"] = {"name": "python", "file_extension": ".py"}
    return made


def lighten(made: Any) -> Any:
    """The same notebook with still pictures in the place of live ones."""
    for cell in made.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "<iframe" in data.get("text/html", "") and "image/svg+xml" in data:
                del data["text/html"]
    return made


def main(names: list[str]) -> None:
    for source in sources():
        if not names or source.stem in names:
            nbformat.write(lighten(run(source)), written(source))
            print(f"{written(source).relative_to(ROOT)}: {written(source).stat().st_size / 1000:.0f} KB")


def _uncommented(text: str) -> str:
    return "\n".join(re.sub(r"^# ?", "", line) for line in text.splitlines())


if __name__ == "__main__":
    main(sys.argv[1:])
