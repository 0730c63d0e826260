"""The app's languages: one file each, attnviz/locale/ID.po, and what is compiled of it, ID.mo, which the wheel has too.

Lessons are files of their own, one in each language; a line of one says what that line of the English one says.

python -m scripts.languages            check every language; fail on what is wrong, and say what is not translated yet
python -m scripts.languages update     bring every language's file up to the code, and compile it
python -m scripts.languages update de  the same for one language, which begins here if it is new

An update keeps what is translated. A sentence that was changed in the code keeps the translation of what it was, marked
`fuzzy`, and is English on the page until a translator has read it and taken the mark away.
"""

import io
import re
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from babel import Locale
from babel.messages import mofile, pofile
from babel.messages.catalog import Catalog, Message

from attnviz.base.words import LOCALE_DIR, OWN_NAME
from scripts.words import ROOT, collected

#: comparing every new sentence with every old one takes minutes for a language that has just begun
MOST_COMPARED = 300
MOST_NAMED = 20  #: sentences that are not translated
#: what a sentence is filled with, and how it is written: {n:,} is another placeholder than {n}
PLACEHOLDER = re.compile(r"%?\{[^{}]*\}")
#: what must stand in a translation exactly as in the sentence, as often, in any order
KEPT = {
    "tags": re.compile(r"</?[a-z][^<>]*>"),
    "addresses": re.compile(r"https?://[^\s),，。；：（）]+"),
    "targets of links": re.compile(r"\]\([^)]*\)"),
    "colours": re.compile(r":[a-z]+\["),
}
#: what must stand in it as often; the words inside may be translated
COUNTED = {
    "code": re.compile(r"`[^`]+`"),
    "formulas": re.compile(r"\$[^$]+\$"),
    "bold": re.compile(r"\*\*"),
    "lines": re.compile(r"\n"),
}
LESSONS = ROOT / "attnviz/pages/lessons/texts"
#: how a line of a lesson's file begins: a heading, a field, an answer
LINE = re.compile(r"#+ |- \w+: |\s+- (?:\[[ x]\]|\w+:) |")
#: what is the same in all languages
UNTRANSLATED = ("- sentence: ", "- picture: ", "- facts: ", "- after: ", "- minutes: ", "- terms: ", "- link: ")
BRACE = re.compile(r"[{}]")
HALF_WIDTH = re.compile(r"[\u4e00-\u9fff](?:[,;?!](?![A-Za-z0-9_])|:(?![a-z-]+[:\[])|\.(?=\s|$))")


class Language(Catalog):
    """The sentences of a language. Its header says nothing that differs after every update, such as dates."""

    def _get_mime_headers(self) -> list[tuple[str, str]]:
        return [(name, value) for name, value in super()._get_mime_headers() if name in HEADER]

    mime_headers = property(_get_mime_headers, Catalog._set_mime_headers)


HEADER = ("Project-Id-Version", "Language", "Plural-Forms", "MIME-Version", "Content-Type", "Content-Transfer-Encoding")


def files() -> list[Path]:
    """The file of each language."""
    return sorted(LOCALE_DIR.glob("*.po"))


def read(path: Path) -> Catalog:
    """A language's sentences, as its file has them."""
    catalog = Language(locale=path.stem, charset="utf-8", fuzzy=False)
    with path.open("rb") as file:
        pofile.PoFileParser(catalog).parse(file)
    return catalog


def update(path: Path, sentences: Catalog) -> None:
    """Bring one language's file up to the code's sentences, and compile it; a file that is not there is begun."""
    catalog = read(path) if path.exists() else _begun(path.stem)
    new = sum(message.id not in catalog for message in sentences if message.id)
    catalog.update(sentences, no_fuzzy_matching=new > MOST_COMPARED)
    catalog.obsolete.clear()
    path.write_bytes(text_of(catalog))
    compiled(path).write_bytes(program_of(read(path)))


def text_of(catalog: Catalog) -> bytes:
    """The file of a language: sentences in the order of the code's files, without line numbers, which change daily."""
    for message in catalog:
        message.locations = sorted({(name, 0) for name, _line in message.locations})
    written = io.BytesIO()
    catalog.header_comment = f"# The sentences of attnviz: {catalog.locale.english_name if catalog.locale else ''}."
    pofile.write_po(written, catalog, width=100, sort_by_file=True, include_lineno=False, include_previous=True)
    return written.getvalue()


def program_of(catalog: Catalog) -> bytes:
    """The same compiled, as Python's gettext reads it: only what is translated and not marked."""
    written = io.BytesIO()
    mofile.write_mo(written, catalog)
    return written.getvalue()


def compiled(path: Path) -> Path:
    """Where the compiled file of a language lies."""
    return path.with_suffix(".mo")


def _begun(name: str) -> Catalog:
    """A new language: nothing is translated but its own name."""
    locale = Locale.parse(name)
    catalog = Language(locale=locale, project="attnviz", version="0.1", charset="utf-8", fuzzy=False)
    catalog.add(OWN_NAME, string=locale.get_display_name(locale) or name)
    return catalog


def untranslated(catalog: Catalog, sentences: Catalog) -> list[Message]:
    """The sentences of the code that this language does not say: missing, empty, or marked as changed."""
    return [each for each in sentences if each.id and not _said(catalog.get(each.id))]


def _said(message: Message | None) -> bool:
    return message is not None and not message.fuzzy and all(forms_of(message))


def check(path: Path) -> list[str]:
    """What is wrong in one language: a line each."""
    catalog, where = read(path), path.relative_to(ROOT)
    found: list[str] = []
    for message in catalog:
        if message.id and _said(message):
            found.extend(f"{where}: {fault}: {message.id!r} -> {message.string!r}" for fault in faults(message))
    if not compiled(path).exists() or compiled(path).read_bytes() != program_of(catalog):
        found.append(f"{where}: not compiled as it is now; `python -m scripts.languages update {path.stem}` does")
    return found + [fault for file in sorted(LESSONS.glob(f"*.{path.stem}.md")) for fault in lesson_faults(file)]


def lesson_faults(path: Path) -> list[str]:
    """Where a lesson in one language differs from the English one in more than its words: a line each."""
    english = path.with_name(f"{path.name.partition('.')[0]}.en.md")
    pairs = zip_longest(*(file.read_text("utf-8").splitlines() for file in (english, path)), fillvalue="")
    found: list[str] = []
    for number, (line, form) in enumerate(pairs, 1):
        begins, other = (match[0] for text in (line, form) if (match := LINE.match(text)))
        same = line == form if begins in UNTRANSLATED else begins == other and bool(line) == bool(form)
        faulty = faults(Message(line, form)) if same else [f"another line than {line!r}"]
        found.extend(f"{path.name}:{number}: {fault}: {form!r}" for fault in faulty)
    return found


# What can be wrong with a translation that a program can see: what must stand in it as often as in the English.
def forms_of(message: Message) -> tuple[str, ...]:
    """The translation: one sentence, or one for each plural form; empty where there is none."""
    held = message.string
    return tuple(each or "" for each in held) if isinstance(held, tuple | list) else (held or "",)


def faults(message: Message) -> list[str]:
    """What is wrong with a translated message, in a few words each."""
    # the plural has every placeholder; the singular may leave its number out
    english = message.id[-1] if isinstance(message.id, tuple | list) else message.id
    return list(dict.fromkeys(fault for form in forms_of(message) for fault in _faults(english, form)))


def _faults(english: str, form: str) -> Iterator[str]:
    # a noun chosen by its number, "{n:token|tokens}", is for each language to have or not
    held, wanted = ({each for each in PLACEHOLDER.findall(text) if "|" not in each} for text in (form, english))
    if wanted - held:
        yield f"without {' '.join(sorted(wanted - held))}"
    if held - wanted:
        yield f"with {' '.join(sorted(held - wanted))}, which nobody fills"
    if _lone_braces(form) != _lone_braces(english):
        yield "another number of lone braces"
    for what, pattern in KEPT.items():
        if Counter(pattern.findall(form)) != Counter(pattern.findall(english)):
            yield f"other {what}"
    for what, pattern in COUNTED.items():
        if len(pattern.findall(form)) != len(pattern.findall(english)):
            yield f"another number of {what}"
    if _edges(form) != _edges(english):
        yield "other spaces at its ends"
    if HALF_WIDTH.search(form):
        yield "half-width punctuation after a Chinese character"


def _lone_braces(text: str) -> int:
    return len(BRACE.findall(PLACEHOLDER.sub("", text)))


def _edges(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\A\s*|\s*\Z", text))


def main(arguments: list[str]) -> int:
    """Update or check; returns the exit status. What is not translated yet is English on the page, and no failure."""
    sentences = collected()
    if arguments[:1] == ["update"]:
        for path in [LOCALE_DIR / f"{name}.po" for name in arguments[1:]] or files():
            update(path, sentences)
            print(f"{path.relative_to(ROOT)}: {_summary(path, sentences)}")
        return 0
    found: list[str] = []
    for path in files():
        missing = untranslated(read(path), sentences)
        for message in missing[:MOST_NAMED]:
            print(f"{path.relative_to(ROOT)}: not translated: {message.id!r}")
        print(f"{path.relative_to(ROOT)}: {_summary(path, sentences)}")
        found.extend(check(path))
    print("\n".join(found))
    return 1 if found else 0


def _summary(path: Path, sentences: Catalog) -> str:
    number = sum(bool(message.id) for message in sentences)
    return f"{number - len(untranslated(read(path), sentences))} of {number} sentences translated"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
