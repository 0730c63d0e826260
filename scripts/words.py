"""Collect the sentences of attnviz, and find those that are not marked for translation: `python -m scripts.words`.

Fails on text that a visitor sees and `_()` does not, and on a marked call that Babel cannot collect: of something else
than one sentence in quotes, or a name for one. Languages are files of their own: see scripts/languages.py.
"""

import ast
import sys
from pathlib import Path

from babel.messages import extract
from babel.messages.catalog import Catalog

ROOT = Path(__file__).parents[1]

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
MARKS = {"_", "N_", "ngettext", "Message", "Problem"}  #: calls whose first argument is looked up in a translation


def is_words(text: str) -> bool:
    """Whether the text contains at least one word, as opposed to an id, a symbol, a number or a colour."""
    stripped = text.strip()
    return any(c.isalpha() for c in stripped) and (" " in stripped or stripped[:1].isupper())


def unmarked(node: ast.AST) -> list[ast.Constant]:
    """String constants inside `node` that are not marked for translation."""
    match node:
        case ast.Constant(value=str() as text) if is_words(text):
            return [node]
        case ast.Call(func=ast.Attribute(attr="format", value=inner)):
            parts = [inner]
        case ast.BinOp(left=one, right=other) | ast.IfExp(body=one, orelse=other):
            parts = [one, other]
        case ast.JoinedStr(values=parts) | ast.Dict(values=parts) | ast.List(elts=parts) | ast.Tuple(elts=parts):
            pass
        case _:
            parts = []
    return [text for part in parts for text in unmarked(part)]


def missed(path: Path) -> list[str]:
    """A report of each text in `path` that a visitor reads and `_()` does not mark.

    A line with `# untranslated: why` is exempt.
    """
    source = path.read_text("utf-8")
    lines = source.splitlines()
    report = []
    for call in _calls(source):
        name = called(call.func)
        read: list[ast.AST] = [k.value for k in call.keywords if k.arg in KEYWORDS]
        to_log = isinstance(call.func, ast.Attribute) and getattr(call.func.value, "id", "") == "log"
        if name in SPEAKS and call.args and not to_log:
            read.extend(call.args[: 2 if name == "choice" else 1])
        for text in (text for node in read for text in unmarked(node)):
            if "# untranslated" not in lines[text.lineno - 1]:
                report.append(f"{path}:{text.lineno}: not marked with _(): {ast.get_source_segment(source, text)}")
    return report


def not_collected(path: Path, marks: set[str]) -> list[str]:
    """A report of each sentence in `path` that is put together inside of a call in `marks`: Babel would not see it."""
    report = []
    for call in _calls(path.read_text("utf-8")):
        if (name := called(call.func)) in marks:
            given = call.args[: 2 if name == "ngettext" else 1]
            given += [keyword.value for keyword in call.keywords if keyword.arg == "template"]
            put_together = [node for node in given if not isinstance(node, ast.Constant) and _has_words(node)]
            report += [f"{path}:{call.lineno}: marked, but put together: {ast.unparse(each)}" for each in put_together]
    return report


def _has_words(node: ast.AST) -> bool:
    parts = list(ast.walk(node))
    texts = (part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str))
    return any(isinstance(part, ast.JoinedStr) for part in parts) or any(map(is_words, texts))


def collected() -> Catalog:
    """Every sentence of the code, each with the files that it stands in."""
    catalog = Catalog(project="attnviz", version="0.1", charset="utf-8")
    keywords = {name: (1, 2) if name == "ngettext" else None for name in MARKS | problems(sources())}
    for name, line, message, comments, context in extract.extract_from_dir(str(ROOT / "attnviz"), keywords=keywords):
        catalog.add(message, None, [(f"attnviz/{name}", line)], auto_comments=comments, context=context)
    return catalog


def sources() -> list[Path]:
    """Every file of the app's own code."""
    return sorted((ROOT / "attnviz").rglob("*.py"))


def problems(files: list[Path]) -> set[str]:
    """Names of the classes that derive from Problem, and so carry a sentence: `class UnknownLayer(Problem)`."""
    classes = [n for path in files for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.ClassDef)]
    names = {"Problem"}
    while more := {c.name for c in classes for base in c.bases if called(base) in names} - names:
        names |= more
    return names - {"Problem"}


def called(node: ast.expr) -> str:
    """The last part of a name in code: `Message` of `message.Message`."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _calls(source: str) -> list[ast.Call]:
    return [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]


def main() -> int:
    """Print each text that is not marked or not collected; returns their number."""
    files = sources()
    marks = MARKS | problems(files)
    speaking = [path for path in files if path.relative_to(ROOT).as_posix().startswith(SPEAKING_FOLDERS)]
    report = [line for path in speaking for line in missed(path)]
    report += [line for path in files for line in not_collected(path, marks)]
    print("\n".join(line.removeprefix(f"{ROOT}/") for line in report) or "words: all sentences are marked")
    return len(report)


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
