"""Print how much code there is: `python -m scripts.sizes`. Docstrings and generated files are not counted."""

import ast
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
GENERATED = ("bundle", "bundles", "data", "node_modules", ".venv", "records.d.ts")


def count_statements(files: Iterable[Path]) -> int:
    """Python statements, without docstrings."""
    nodes = (node for file in files for node in ast.walk(ast.parse(file.read_text("utf-8"))))
    statements = (node for node in nodes if isinstance(node, ast.stmt))
    return sum(not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)) for node in statements)


def count_lines(files: Iterable[Path]) -> int:
    """Lines of text files."""
    return sum(len(file.read_text("utf-8").splitlines()) for file in files)


def files_below(folder: str, *suffixes: str) -> list[Path]:
    """Files with one of these endings that are written by hand."""
    found = (file for suffix in suffixes for file in (ROOT / folder).rglob(f"*{suffix}"))
    return [file for file in found if not set(file.relative_to(ROOT).parts) & set(GENERATED)]


if __name__ == "__main__":
    others = [file for folder in ("scripts", "benchmarks", "deploy") for file in files_below(folder, ".py", ".mjs")]
    sizes = {
        "product Python, statements": count_statements(files_below("attnviz", ".py")),
        "product Python, files": len(files_below("attnviz", ".py")),
        "product JavaScript and CSS, lines": count_lines(files_below("attnviz", ".js", ".css", ".d.ts")),
        "tests, lines": count_lines(files_below("tests", ".py", ".js")),
        "scripts, benchmarks, deploy, lines": count_lines(others),
    }
    for name, size in sizes.items():
        print(f"{size:>8,}  {name}")
