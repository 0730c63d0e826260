"""A language that nobody speaks: each word of the app 40% longer, made for a test and never shipped.

German and French take about that much more room than English; a page that holds these words holds theirs. A word that
is not longer is one that nobody can translate.
"""

import math
import re
import shutil
from pathlib import Path

from attnviz.base.words import LOCALE_DIR, OWN_NAME
from scripts import languages

NAME = "la"  # a code that there is: a screen reader is told of it
GROWTH = 0.4
#: what stays as it is: placeholders, tags, code, formulas, targets of links, signs of Markdown; of "{n:token|tokens}",
#: which chooses a noun, only what is before the nouns
KEPT = re.compile(
    r"\{\w+:(?=[^{}]*\|)|%?\{[^{}]*\}|%\(\w+\)\w|%s|</?[a-z][^<>]*>|`[^`]*`|\$[^$]*\$|\]\([^)]*\)"
    r"|https?://\S+|:[a-z]+(?:/\w+)?[:\[]|&\S+?;"
)
_WORD = re.compile(r"[A-Za-z][A-Za-z’']*")
TAIL = "éèêëęėē"


def longer(text: str) -> str:
    """The sentence with two letters more for every five, at the end of its words; everything else as it was."""
    made, at = [], 0
    for kept in KEPT.finditer(text):
        made += [_grown(text[at : kept.start()]), kept[0]]
        at = kept.end()
    return "".join([*made, _grown(text[at:])])


def _grown(words: str) -> str:
    return _WORD.sub(lambda word: word[0] + (TAIL * 9)[: math.ceil(GROWTH * len(word[0]))], words)


def write(folder: Path) -> None:
    """Compile the language into `folder`, beside the others."""
    for kept in (*LOCALE_DIR.glob("*.mo"), *languages.LESSONS.glob("*.md")):
        shutil.copy(kept, folder)
    catalog = languages.read(LOCALE_DIR / "zh.po")
    for message in catalog:
        if message.id == OWN_NAME:
            message.string = "Longer"
        elif message.id:
            message.string = longer(message.id) if isinstance(message.id, str) else (longer(message.id[-1]),)
    (folder / f"{NAME}.mo").write_bytes(languages.program_of(catalog))
    for file in languages.LESSONS.glob("*.en.md"):
        lines = [begins + (text if begins in languages.UNTRANSLATED else longer(text)) for begins, text in parts(file)]
        (folder / file.name.replace(".en.", f".{NAME}.")).write_text("\n".join(lines), "utf-8")


def parts(file: Path) -> list[tuple[str, str]]:
    """How each line of a lesson's file begins, and its text."""
    lines = file.read_text("utf-8").splitlines()
    begins = [match[0] for line in lines if (match := languages.LINE.match(line))]
    return [(sign, line.removeprefix(sign)) for sign, line in zip(begins, lines, strict=True)]


def lessons_in_chinese() -> dict[str, str]:
    """Each English text of the lessons, and what it is in Chinese."""
    files = ((file, file.with_name(file.name.replace(".en.", ".zh."))) for file in languages.LESSONS.glob("*.en.md"))
    pairs = (pair for both in files for pair in zip(*map(parts, both), strict=True))
    return {english: chinese for (begins, english), (_, chinese) in pairs if begins not in languages.UNTRANSLATED}


def script(folder: Path, app: Path) -> Path:
    """A script that serves the app in this language, too; all is written into the folder."""
    write(folder)
    file = folder / "app.py"
    own = f"from pathlib import Path\n\nfrom attnviz.base import words\n\nwords.LOCALE_DIR = Path({str(folder)!r})\n"
    lessons = "\nfrom attnviz.pages.lessons.panels import open_lesson\n\nopen_lesson.TEXTS = words.LOCALE_DIR\n"
    file.write_text(own + app.read_text("utf-8").replace("from __future__ import annotations\n", "") + lessons)
    return file
