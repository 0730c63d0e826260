"""Words glued together in code, which no translator sees: a list joined with ", ", two sentences joined with " ".

A list is `words.listed`, parts of a sentence are `words.clauses`, sentences are `words.sentences`, a part that needs a
full stop is `words.ended`, and a list inside a Message is `Several`: each language has its own separators.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection
from pathlib import Path
from typing import TypeGuard

#: folders whose words a visitor reads
SPEAKING = tuple(
    f"attnviz/{name}" for name in ("app", "canvas", "pages", "serve", "figures", "live", "command", "notebook")
)
GLUE = re.compile(r"[,;.:]? | (?:and|or) |[.;]")
BETWEEN = re.compile(r"[,;.:] ")  #: between two values of an f-string; a space alone is "0.5 ms" or "GQA 4"
#: how many places of a file may join so, and why: code and data, and numbers, names and signs as all languages write
ALLOWED = {
    "attnviz/command/command_line.py": (1, "options as they were typed"),
    "attnviz/pages/compare/figures/curves.py": (1, "a name in front of a point's read-out"),
    "attnviz/pages/decoding/figures/charts.py": (2, "a letter and a format in a legend"),
    "attnviz/models/loading/packaged.py": (2, "a command"),
    "attnviz/pages/build/panels/lesson_qkv.py": (1, "the visitor's words"),
    "attnviz/pages/build/panels/walk.py": (2, "a shape"),
    "attnviz/pages/decoding/panels/decoding_traps.py": (1, "a number in front of a title"),
    "attnviz/pages/explore/panels/programs.py": (1, "Python"),
    "attnviz/pages/explore/panels/stages.py": (1, "LaTeX"),
    "attnviz/pages/heads/panels/example.py": (1, "a number and its value"),
    "attnviz/pages/lessons/panels/hand_pictures.py": (1, "tokens"),
    "attnviz/pages/lessons/panels/own_lesson.py": (4, "TOML"),
    "attnviz/pages/masks/panels/leak.py": (1, "the visitor's words"),
    "attnviz/pages/masks/panels/traps.py": (1, "a number in front of a title"),
    "attnviz/pages/pictures/panels/picture_input.py": (1, "a key"),
    "attnviz/pages/pictures/panels/picture_answer.py": (1, "what a model wrote"),
    "attnviz/pages/positions/panels/order.py": (1, "the visitor's words"),
    "attnviz/pages/scaling/panels/softmax.py": (3, "numbers"),
    "attnviz/app/guarding.py": (1, "an exception as Python writes it"),
    "attnviz/pages/sharing/panels/sharing_programs.py": (1, "Python"),
    "attnviz/serve/security_headers.py": (2, "a header of HTTP"),
}


def glued(path: Path, messages: Collection[str]) -> list[str]:
    """A report of each place in `path` that glues words; `messages` are the calls that make a sentence with values.

    Outside of the folders that speak only the values of messages are looked at: what else is joined there is code or
    data. A file that has no more places than are allowed it is not reported.
    """
    where, tree = path.as_posix(), ast.parse(path.read_text("utf-8"))
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and called(node.func) in messages)
    speaks = any(f"{folder}/" in where for folder in SPEAKING) and "/maths/" not in where
    searched = [tree] if speaks else calls
    found = {(node.lineno, node.col_offset): node for each in searched for node in ast.walk(each) if _glues(node)}
    allowed = next((number for file, (number, _why) in ALLOWED.items() if where.endswith(file)), 0)
    if len(found) <= allowed:
        return []
    return [f"{path}:{line}: glued in code: {ast.unparse(found[line, at])[:90]}" for line, at in sorted(found)]


def _glues(node: ast.AST) -> TypeGuard[ast.expr]:
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr == "join" and _is_glue(node.func.value)
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Add) and (_is_glue(node.left) or _is_glue(node.right))
    return isinstance(node, ast.JoinedStr) and _only_joins(node)


def _is_glue(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(GLUE.fullmatch(node.value))


def _only_joins(node: ast.JoinedStr) -> bool:
    """Whether an f-string is nothing but values with ", " or ". " between them."""
    pieces = [str(part.value) for part in node.values if isinstance(part, ast.Constant)]
    return all(map(GLUE.fullmatch, pieces)) and any(map(BETWEEN.fullmatch, pieces))


def called(node: ast.expr) -> str:
    """The last part of a name in code: `Message` of `message.Message`."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
