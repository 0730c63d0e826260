"""One name, one thing: no two classes or type aliases of the package share a name."""

import ast
import re
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "attnviz"
#: every lesson has these, and code names them with their lesson (`saturation.Config`, `fill.Wrong`)
IDIOMS = {"Config", "Result", "Wrong", "Right"}


def shared(named: list[tuple[str, str]]) -> dict[str, list[str]]:
    """Names that stand for more than one thing, and where each stands."""
    places = defaultdict(list)
    for name, place in named:
        places[name].append(place)
    return {name: found for name, found in places.items() if len(found) > 1}


def classes_and_aliases(text: str) -> list[str]:
    """What a module defines at its top that is a type: classes, and assignments to a name in CamelCase."""
    found = []
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef):
            found.append(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if (
                isinstance(target, ast.Name)
                and len(target.id) > 1
                and target.id[0].isupper()
                and not target.id.isupper()
            ):
                found.append(target.id)
    return found


def test_no_two_types_share_a_name() -> None:
    files = sorted(PACKAGE.rglob("*.py"))
    named = [(name, str(path)) for path in files for name in classes_and_aliases(path.read_text("utf-8"))]
    assert len(named) > 100
    assert {name: places for name, places in shared(named).items() if name not in IDIOMS} == {}


def test_a_name_given_twice_is_found() -> None:
    text = "from typing import Literal\nKind = Literal['a']\nclass Layer: ...\nLIMIT = 3\n"
    assert classes_and_aliases(text) == ["Kind", "Layer"]
    named = [(name, place) for place in ("one.py", "two.py") for name in classes_and_aliases(text)]
    assert set(shared(named)) == {"Kind", "Layer"}


def test_the_routes_in_architecture_name_files_and_functions_that_are_there() -> None:
    told = (PACKAGE.parent / "ARCHITECTURE.md").read_text("utf-8")
    routes = "".join(part for part in re.split(r"(?m)^## ", told) if part.startswith("From "))
    stops = re.findall(r"^\d+\. .*(?:\n   .*)*", routes, re.M)
    assert len(stops) == 10 + 7
    for stop in stops:
        for path, name in re.findall(r"`([a-z_/]+\.py)`(?:, `([a-z_]+)`)?", stop):
            text = (PACKAGE / path).read_text("utf-8")
            assert not name or re.search(rf"^def {name}\b", text, re.M), f"{path} has no {name}"
