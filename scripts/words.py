"""Collect the sentences of attnviz for translators, and find those that are not marked for translation.

python -m scripts.words            write attnviz/locale/attnviz.pot, the template that a translation starts from
python -m scripts.words --check    write it too; fail on text that a visitor sees and `_()` does not, on a sentence
                                   that is missing from the template, and on words that are glued together in code

The template is generated from the code on demand, so it is not part of the repository or of the wheel. A language's
own file is: see scripts/languages.py.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Iterable
from pathlib import Path

from babel.messages import extract, pofile
from babel.messages.catalog import Catalog

from scripts.glue import called, glued

ROOT = Path(__file__).parents[1]
POT = ROOT / "attnviz" / "locale" / "attnviz.pot"

# Streamlit functions whose first argument a visitor reads. KEYWORDS are keyword arguments that a visitor reads.
SPEAKS = {
    "title", "header", "subheader", "caption", "markdown", "write", "text", "info", "warning", "error", "success",
    "button", "download_button", "toggle", "checkbox", "radio", "selectbox", "multiselect", "slider", "select_slider",
    "text_input", "text_area", "number_input", "segmented_control", "pills", "popover", "expander", "tabs", "metric",
    "toast", "spinner", "progress", "status", "page_link", "link_button", "file_uploader", "color_picker",
    "data_editor", "dialog", "choice",
}  # fmt: skip
KEYWORDS = {
    "label", "help", "placeholder", "caption", "title", "text", "words", "row_title", "col_title", "value_title",
    "title_text", "question", "body", "name", "labels", "options", "annotation_text", "subtitle", "x_title", "y_title",
}  # fmt: skip
# Folders whose calls are searched for unmarked text.
SPEAKING_FOLDERS = ("attnviz/app", "attnviz/canvas", "attnviz/figures", "attnviz/pages", "attnviz/serve")
FOLDERS = ("attnviz",)  #: where the app's own sentences are
MARKS = {"_", "N_", "ngettext", "Message", "Problem"}  #: calls whose first argument is looked up in a translation
WRAPPERS = MARKS | {"say"}


def is_words(text: str) -> bool:
    """Whether the text contains at least one word, as opposed to an id, a symbol, a number or a colour."""
    stripped = text.strip()
    return any(c.isalpha() for c in stripped) and (" " in stripped or stripped[:1].isupper())


def unmarked(node: ast.AST) -> list[ast.Constant]:
    """String constants inside `node` that are not marked for translation."""
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in WRAPPERS or name == "format":
            return unmarked(node.func.value) if name == "format" and isinstance(node.func, ast.Attribute) else []
        return []
    if isinstance(node, ast.Constant):
        return [node] if isinstance(node.value, str) and is_words(node.value) else []
    if isinstance(node, ast.JoinedStr):
        return [part for part in node.values if isinstance(part, ast.Constant) and is_words(str(part.value))]
    if isinstance(node, ast.BinOp):
        return unmarked(node.left) + unmarked(node.right)
    if isinstance(node, ast.IfExp):
        return unmarked(node.body) + unmarked(node.orelse)
    if isinstance(node, ast.Dict):
        return [found for value in node.values for found in unmarked(value)]
    if isinstance(node, ast.List | ast.Tuple):
        return [found for item in node.elts for found in unmarked(item)]
    return []


def missed(path: Path) -> list[str]:
    """A report of each text in `path` that a visitor reads and `_()` does not mark.

    A line with `# untranslated: why` is exempt.
    """
    source = path.read_text("utf-8")
    lines = source.splitlines()
    found = []
    for call in (n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Call)):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        spoken: list[ast.AST] = [k.value for k in call.keywords if k.arg in KEYWORDS]
        to_log = isinstance(call.func, ast.Attribute) and getattr(call.func.value, "id", "") == "log"
        if name in SPEAKS and call.args and not to_log:
            spoken.extend(call.args[: 2 if name == "choice" else 1])
        for text in (t for node in spoken for t in unmarked(node)):
            if "# untranslated" not in lines[text.lineno - 1]:
                found.append(f"{path}:{text.lineno}: not marked with _(): {ast.get_source_segment(source, text)}")
    return found


def collected(carrying: Collection[str] = ()) -> Catalog:
    """Every sentence of the code, each with the files that it stands in; `carrying` are `problems`, if known."""
    catalog = Catalog(project="attnviz", version="0.1", charset="utf-8")
    calls = MARKS.union(carrying or problems(sources()))
    keywords = {name: (1, 2) if name == "ngettext" else None for name in calls}
    for folder in FOLDERS:
        for name, line, message, comments, context in extract.extract_from_dir(str(ROOT / folder), keywords=keywords):
            catalog.add(message, None, [(f"{folder}/{name}", line)], auto_comments=comments, context=context)
    return catalog


def collect(carrying: Collection[str] = ()) -> int:
    """Write the template that translators start from; returns the number of its sentences."""
    catalog = collected(carrying)
    POT.parent.mkdir(exist_ok=True)
    with POT.open("wb") as file:
        pofile.write_po(file, catalog, width=100, omit_header=True, sort_output=True, no_location=True)
    return len(catalog)


def sources() -> list[Path]:
    """Every file of the app's own code."""
    return [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]


def problems(files: list[Path]) -> set[str]:
    """Names of the classes that derive from Problem, and so carry a sentence: `class UnknownLayer(Problem)`."""
    classes = [n for path in files for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.ClassDef)]
    found = {"Problem"}
    while more := {c.name for c in classes for base in c.bases if called(base) in found} - found:
        found |= more
    return found - {"Problem"}


def template() -> set[str]:
    """The sentences of the template on disk; singular and plural forms count separately."""
    with POT.open("rb") as file:
        catalog = pofile.read_po(file)
    ids = (message.id if isinstance(message.id, tuple | list) else (message.id,) for message in catalog if message.id)
    return {text for each in ids for text in each}


def not_in_template(files: list[Path], carrying: Collection[str] = ()) -> list[str]:
    """A report of marked sentences that the template lacks.

    They are found in the syntax tree, independently of Babel, which reads tokens.
    """
    held, marks = template(), MARKS.union(carrying or problems(files))
    found: list[str] = []
    for path in files:
        for call in (n for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.Call)):
            if (name := called(call.func)) not in marks:
                continue
            first = [
                *call.args[: 2 if name == "ngettext" else 1],
                *(k.value for k in call.keywords if k.arg == "template"),
            ]
            found.extend(f"{path}:{call.lineno}: missing from the template: {text}" for text in texts(first) - held)
    return found


def texts(nodes: Iterable[ast.AST]) -> set[str]:
    """Every string in these expressions, both branches of an `if` included, and every f-string as source code.

    An f-string is never in the template, so it is always reported.
    """
    inside = [child for node in nodes for child in ast.walk(node)]
    pieces = {id(value) for node in inside if isinstance(node, ast.JoinedStr) for value in node.values}
    whole = {
        n.value for n in inside if isinstance(n, ast.Constant) and isinstance(n.value, str) and id(n) not in pieces
    }
    return whole | {ast.unparse(node) for node in inside if isinstance(node, ast.JoinedStr)}


def check() -> int:
    """Print each sentence that is unmarked or missing from the template; returns their number."""
    speaking = [path for folder in SPEAKING_FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    files = sources()
    carrying = problems(files)
    number = collect(carrying)
    found = [line for path in speaking for line in missed(path)] + not_in_template(files, carrying)
    found.extend(line for path in files for line in glued(path, {"Message", "Problem"} | carrying))
    print("\n".join(line.removeprefix(f"{ROOT}/") for line in found) or f"words: all {number} sentences are marked")
    return len(found)


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(1 if check() else 0)
    print(f"{collect()} sentences in {POT.relative_to(ROOT)}")
