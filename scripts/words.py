"""The sentences of attnviz: collect them for translators, and find those that were missed.

python scripts/words.py            write attnviz/locale/attnviz.pot
python scripts/words.py --check    fail on text that a visitor sees and `_()` does not
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
POT = ROOT / "attnviz" / "locale" / "attnviz.pot"

# Calls of Streamlit whose first argument, or one of these keywords, a visitor reads.
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
# Modules whose `title=`-like keywords are words on a figure.
SPEAKING_FOLDERS = ("pages", "attnviz/ui", "attnviz/figures")
WRAPPERS = {"_", "ngettext", "N_", "say", "Message", "Problem"}


def is_words(text: str) -> bool:
    """Letters of at least one word: not an id, a symbol, a number or a colour."""
    stripped = text.strip()
    return any(c.isalpha() for c in stripped) and (" " in stripped or stripped[:1].isupper())


def unmarked(node: ast.AST) -> list[ast.AST]:
    """Strings inside `node` that no wrapper marks."""
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
    """Where `path` says something to a visitor outside `_()`; `# untranslated: why` excuses a line."""
    source = path.read_text()
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


def collect() -> int:
    """Write the template that translators start from."""
    from babel.messages import extract, pofile
    from babel.messages.catalog import Catalog

    catalog = Catalog(project="attnviz", version="0.1", charset="utf-8")
    keywords = {"_": None, "N_": None, "Message": None, "Problem": None, "ngettext": (1, 2)}
    for folder in ("attnviz", "pages"):
        for name, line, message, comments, context in extract.extract_from_dir(str(ROOT / folder), keywords=keywords):
            catalog.add(message, None, [(f"{folder}/{name}", line)], auto_comments=comments, context=context)
    POT.parent.mkdir(exist_ok=True)
    with POT.open("wb") as file:
        pofile.write_po(file, catalog, width=100, omit_header=True, sort_output=True, no_location=True)
    return len(catalog)


def check() -> int:
    """How many sentences were missed; each is printed."""
    files = [p for folder in SPEAKING_FOLDERS for p in sorted((ROOT / folder).rglob("*.py"))]
    found = [line for path in files for line in missed(path)]
    print(
        "\n".join(str(Path(line).relative_to(ROOT) if line.startswith("/") else line) for line in found)
        or "words: all marked"
    )
    return len(found)


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(1 if check() else 0)
    print(f"{collect()} sentences in {POT.relative_to(ROOT)}")
