"""Write docs/library/api.md from the docstrings of the names that `import attnviz as av` offers.

python -m scripts.api_page           writes the page; a test fails where it is not what the docstrings say
"""

import inspect
import re
from functools import cached_property
from pathlib import Path
from types import FunctionType
from typing import Any

import attnviz

PAGE = Path(__file__).parents[1] / "docs" / "library" / "api.md"
INTRODUCTION = """Written by `python -m scripts.api_page` from the docstrings: do not edit. What to do with these names,
by example: [notebook.md](notebook.md)."""
KINDS = (FunctionType, staticmethod, classmethod, property, cached_property)
WIDTH = 110  #: columns that a signature may take before each argument has a line of its own


def page() -> str:
    """The whole text of docs/library/api.md."""
    names = sorted(attnviz.__all__, key=str.lower)
    contents = "\n".join(f"- [`av.{name}`](#av{name.lower()}): {_first(getattr(attnviz, name))}" for name in names)
    about = _about(attnviz)
    parts = [f"# The names of attnviz\n\n{INTRODUCTION}", about, contents, *(_entry(name) for name in names)]
    return "\n\n".join(parts) + "\n"


def _entry(name: str) -> str:
    """One name: how it is called, what it says of itself, and what it offers."""
    what = getattr(attnviz, name)
    parts = [f"## av.{name}", _code(_signature(f"av.{name}", what)), _about(what)]
    if inspect.isclass(what):
        parts += [_member(name, *member) for member in _members(what)]
    return "\n\n".join(parts)


def _member(owner: str, name: str, what: Any) -> str:
    plain = getattr(what, "__func__", what)  # of a static or class method, which is called by its class's name
    call = f"{owner.lower()}.{name}" if plain is what else f"av.{owner}.{name}"
    called = [_code(_signature(call, plain))] if inspect.isfunction(plain) else []
    return "\n\n".join((f"### {owner}.{name}", *called, _about(plain)))


def _members(what: type) -> list[tuple[str, Any]]:
    """Methods and properties that say what they are; fields are in the signature."""
    named = ((name, each) for name, each in vars(what).items() if not name.startswith("_"))
    return [(name, each) for name, each in named if isinstance(each, KINDS) and inspect.getdoc(each)]


def _signature(call: str, what: Any) -> str:
    """`call` with its arguments, as written in the code; on a line each where one line is too long."""
    asked, asked_by_name = inspect.signature(what), inspect.Parameter.KEYWORD_ONLY
    given = [each for each in asked.parameters.values() if each.name != "self"]
    plain = asked.replace(parameters=given)
    gives = (
        ""
        if inspect.isclass(what) or plain.return_annotation is plain.empty
        else f" -> {_annotation(plain.return_annotation)}"
    )
    parts = [_argument(each) for each in given]
    kinds = [each.kind for each in given]
    if asked_by_name in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        parts.insert(kinds.index(asked_by_name), "*")
    short = f"{call}({', '.join(parts)}){gives}"
    if len(short) <= WIDTH:
        return short
    return "\n".join((f"{call}(", *(f"    {part}," for part in parts), f"){gives}"))


def _argument(asked: inspect.Parameter) -> str:
    """One argument; annotations are texts in this package and are shown as they are written there."""
    stars = "*" if asked.kind is asked.VAR_POSITIONAL else "**" if asked.kind is asked.VAR_KEYWORD else ""
    kind = f": {_annotation(asked.annotation)}" if asked.annotation is not asked.empty else ""
    if asked.default is asked.empty:
        return f"{stars}{asked.name}{kind}"
    default = "..." if repr(asked.default).startswith("<") else repr(asked.default).replace("'", '"')
    return f"{stars}{asked.name}{kind}{' = ' if kind else '='}{default}"


def _annotation(written: Any) -> str:
    """Most are texts, as they are written in the code; a type is named."""
    return written if isinstance(written, str) else inspect.formatannotation(written)


def _about(what: Any) -> str:
    """The docstring as Markdown: examples and indented parts are code, the rest are paragraphs."""
    said = inspect.getdoc(what)
    if not said:
        raise SystemExit(f"{what!r} has no docstring")
    text = "\n\n".join(_block(block) for block in re.split(r"\n\s*\n", said))
    return text.replace("\n```\n\n```\n", "\n\n")  # code after code is one example


def _block(text: str) -> str:
    if text.startswith(">>>") or all(line.startswith("    ") for line in text.splitlines()):
        return _code(inspect.cleandoc(text), "")
    return text


def _first(what: Any) -> str:
    """The first sentence of what it says of itself."""
    paragraph = " ".join(_about(what).split("\n\n")[0].split())
    return re.split(r"(?<=[.]) ", paragraph)[0]


def _code(text: str, language: str = "python") -> str:
    return f"```{language}\n{text}\n```"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
