"""Check that code outside a package only imports from its face: the names in `__all__` of its `__init__.py`.

python -m scripts.faces            print each import that bypasses a face, and fail if there is one

import-linter sees which module imports which, not which names, so it cannot check this. Packages directly below
`attnviz` are layers, whose modules are all public (`attnviz.core.attention`); every package below a layer has a face.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
WATCHED = ("attnviz", "pages", "scripts", "benchmarks", "app.py")
RELATIVE = "."  # stands for any relative import; they are forbidden, so that one search finds all users of a name
LAYER_PARTS = 2  # the parts of a layer's name, as in attnviz.models; packages with more parts have a face


@dataclass(frozen=True)
class Imported:
    """One import statement: its module, and the names imported from it, None for `import module`."""

    line: int
    module: str
    names: tuple[str, ...] | None


def breaches(root: Path = ROOT) -> list[str]:
    """One sentence for each import that bypasses a face, and for each package that has no face."""
    found = [f"{folder}: a package without __init__.py" for folder in _folders_without_a_face(root)]
    below_a_layer = _faces(root)
    for package, face in below_a_layer.items():
        if face is None:
            found.append(f"{package}: its __init__.py has no docstring or no __all__")
    for path in _files(root):
        mine = _module(path, root)
        for each in _imports(path.read_text("utf-8")):
            if trouble := _trouble(root, mine, each, below_a_layer):
                found.append(f"{path.relative_to(root)}:{each.line}: {trouble}")
    return sorted(found)


def breaches_of(program: str, root: Path = ROOT) -> list[str]:
    """The same for one program that is no file of ours: what a visitor copies."""
    faces = _faces(root)
    return [trouble for each in _imports(program) if (trouble := _trouble(root, "", each, faces))]


def _faces(root: Path) -> dict[str, frozenset[str] | None]:
    """The packages below a layer, and the names in the face of each."""
    faces = {_module(path.parent, root): _face(path) for path in (root / "attnviz").rglob("__init__.py")}
    return {package: face for package, face in faces.items() if package.count(".") >= LAYER_PARTS}


def _trouble(root: Path, mine: str, each: Imported, faces: dict[str, frozenset[str] | None]) -> str | None:
    """What is wrong with one import of the module `mine`; None if nothing is."""
    if each.module == RELATIVE:
        return "a relative import: write the whole name"
    for package in sorted(faces):  # outer packages first, because an import must use the face of the outermost package
        inside = f"{mine}.".startswith(f"{package}.")
        if not f"{each.module}.".startswith(f"{package}."):
            continue
        if inside:
            own_face = each.module == package and mine != package and each.names is not None
            taken = [name for name in each.names or () if own_face and not _is_module(root, package, name)]
            if taken:
                return f"{mine} lies in {package} and imports {', '.join(taken)} from its face: a circle"
            continue
        if each.module != package:
            return f"{each.module} is inside {package}: import from {package}"
        hidden = [name for name in each.names or () if name not in (faces[package] or ())]
        if hidden:
            return f"{', '.join(hidden)} is not in the face of {package}"
        return None
    return None


def _is_module(root: Path, package: str, name: str) -> bool:
    folder = root / package.replace(".", "/")
    return (folder / f"{name}.py").exists() or (folder / name).is_dir()


def _imports(text: str) -> Iterator[Imported]:
    """Every import of a file, including those inside functions and for type checkers."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield Imported(node.lineno, node.module, tuple(alias.name for alias in node.names))
        elif isinstance(node, ast.ImportFrom):
            yield Imported(node.lineno, RELATIVE, ())
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield Imported(node.lineno, alias.name, None)


def _face(path: Path) -> frozenset[str] | None:
    """The names of a face; None if its docstring or its `__all__` is missing."""
    tree = ast.parse(path.read_text("utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            return frozenset(ast.literal_eval(node.value)) if ast.get_docstring(tree) else None
    return None


def _folders_without_a_face(root: Path) -> list[Path]:
    folders = {path.parent for path in (root / "attnviz").rglob("*.py")}
    return sorted(folder.relative_to(root) for folder in folders if not (folder / "__init__.py").exists())


def _files(root: Path) -> Iterator[Path]:
    for name in WATCHED:
        place = root / name
        yield from sorted(place.rglob("*.py")) if place.is_dir() else [place] if place.exists() else []


def _module(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


if __name__ == "__main__":
    told = breaches()
    print("\n".join(told) or "Every import goes through a face.")
    sys.exit(bool(told))
