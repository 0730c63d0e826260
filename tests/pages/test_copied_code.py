"""Nothing that a visitor copies uses a private name, of ours or of a library.

Programs on pages are texts, or the source of a function of ours, in which ruff finds private names (SLF001). That they
run and print the page's numbers is tested where each is made.
"""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PRIVATE = re.compile(r"\._[a-z]\w*")
#: what looks private names up, and shows none
LOOKS_UP = ("app/workarounds", "models/capture/forward_pass.py")


def texts(source: str) -> list[str]:
    """Every text in a program, parts of texts with values in them included."""
    nodes = ast.walk(ast.parse(source))
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]


@pytest.mark.parametrize("folder", sorted(path.name for path in (ROOT / "attnviz").iterdir() if path.is_dir()))
def test_no_text_of_ours_has_a_private_name(folder: str) -> None:
    for path in sorted((ROOT / "attnviz" / folder).rglob("*.py")):
        if not path.relative_to(ROOT / "attnviz").as_posix().startswith(LOOKS_UP):
            assert [text for text in texts(path.read_text("utf-8")) if PRIVATE.search(text)] == [], path


def test_no_program_of_the_documents_has_a_private_name() -> None:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    blocks = [code for page in pages for code in re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL)]
    notebooks = [path.read_text("utf-8") for path in sorted((ROOT / "docs" / "library" / "notebooks").glob("*.py"))]
    assert len(blocks) > 10
    assert [code for code in blocks + notebooks if PRIVATE.search(code)] == []
