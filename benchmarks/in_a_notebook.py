"""What each tool needs for the same picture in a notebook's cell: docs/library/notebook.md's table.

    python -m benchmarks.in_a_notebook

The model is the packaged MiniLM, the sentence has 15 tokens, and the picture has all of its 72 heads. Each program
below is run as it stands; its lines are counted. What a cell holds is opened in Chromium with the network cut, and
counts as drawn where something is painted. Tools that are not installed (requirements-dev.txt,
requirements-compared.txt) are left out with a word.
"""

import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from attnviz.models.loading import load
from attnviz.models.tokens import encode
from benchmarks.harness import chromium, size, table

MODEL = "minilm-l6"
SENTENCE = "The animal didn't cross the street because it was too tired."
HAVE = ("torch", "numpy", "transformers")  #: what whoever studies models has installed
EAGER = 'model.set_attn_implementation("eager")'
ATTENTIONS = "attention = model(**inputs, output_attentions=True).attentions"


@dataclass(frozen=True)
class Tool:
    """A tool, the package that holds it, its import, and a program that leaves `view` behind."""

    name: str
    package: str
    imports: str
    program: str

    @property
    def lines(self) -> int:
        return len(self.program.strip().splitlines())


def bertviz(view: str) -> Tool:
    """One of its views."""
    shown = f'view = {view}(attention, tokens, html_action="return")'
    return Tool(f"bertviz, {view}", "bertviz", f"from bertviz import {view}", f"{EAGER}\n{ATTENTIONS}\n{shown}")


OURS = """
trace = av.capture(model, **inputs)
view = av.show(trace, tokens)
"""
ATTNVIEW = f"""
{EAGER}
{ATTENTIONS}
cache = {{f"blocks.{{n}}.attn.hook_pattern": each for n, each in enumerate(attention)}}
view = attnview.display_cache(cache, tokens=tokens)
"""
PICTURES = (
    Tool("attnviz", "attnviz", "import attnviz as av", OURS),
    bertviz("head_view"),
    bertviz("model_view"),
    Tool("attnview", "attnview", "import attnview", ATTNVIEW),
)


def installed(tools: tuple[Tool, ...]) -> Iterator[tuple[Tool, str]]:
    """Each tool that is here, and its name with its version."""
    for tool in tools:
        try:
            yield tool, f"{tool.name} {version(tool.package)}"
        except PackageNotFoundError:
            print(f"{tool.package} is not installed: left out", file=sys.stderr)


def brought(package: str) -> list[str]:
    """The packages that its installation asks for, beside those that one has."""
    asked = [Requirement(each) for each in requires(package) or ()]
    plain = {each.name.lower() for each in asked if each.marker is None or each.marker.evaluate({"extra": ""})}
    return sorted(plain - set(HAVE))


def run(tool: Tool, names: Mapping[str, Any]) -> dict[str, Any]:
    """The names that the program leaves behind."""
    held = dict(names)
    exec(f"{tool.imports}\n{tool.program}", held)
    return held


def drawn_offline(cell: str, browser: Any) -> bool:
    """Whether anything is painted where no address can be reached."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cell.html"
        file.write_text(f"<!doctype html><meta charset=utf-8><body>{cell}", "utf-8")
        context = browser.new_context(offline=True)
        page = context.new_page()
        page.goto(file.as_uri())
        page.wait_for_timeout(3_000)
        marks = "document.querySelectorAll('svg line, svg rect, svg path, canvas, table td').length"
        found = sum(frame.evaluate(marks) for frame in page.frames)
        context.close()
        return bool(found)


def needs_eager(tool: Tool, names: Mapping[str, Any]) -> bool:
    """Whether the program fails without the line that takes the model off its fast path."""
    if EAGER not in tool.program:
        return False
    names["model"].set_attn_implementation("sdpa")
    try:
        run(replace(tool, program=tool.program.replace(EAGER, "")), names)
    except Exception:
        return True
    return False


def pictures() -> list[dict[str, str]]:
    """A row for each tool."""
    rows = []
    with chromium() as browser:
        for tool, name in installed(PICTURES):
            loaded = load(MODEL)
            encoded = encode(loaded, SENTENCE)
            names = {"model": loaded.model, "inputs": dict(encoded.inputs), "tokens": list(encoded.labels)}
            eager = needs_eager(tool, names)
            view = run(tool, names)["view"]
            cell: str = view.data if hasattr(view, "data") else view._repr_html_()  # what a notebook keeps of it
            rows.append(
                {
                    "picture of all 72 heads, 15 tokens": name,
                    "lines after the import": str(tool.lines),
                    "the cell holds": size(len(cell.encode())),
                    "drawn with the network cut": "yes" if drawn_offline(cell, browser) else "no",
                    "model on its fast path": "no: eager attention" if eager else "yes",
                    "packages it brings": ", ".join(brought(tool.package)) or "none",
                }
            )
    return rows


if __name__ == "__main__":
    print(table(pictures()))
