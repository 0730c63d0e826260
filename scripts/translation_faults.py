"""What can be wrong with a translation that a program can see: what must stand in it as often as in the English."""

import re
from collections import Counter
from collections.abc import Iterator

from babel.messages.catalog import Message

#: what a sentence is filled with, and how it is written: {n:,} is another placeholder than {n}
PLACEHOLDER = re.compile(r"%?\{[^{}]*\}")
#: what must stand in a translation exactly as in the sentence, as often, in any order
KEPT = {
    "tags": re.compile(r"</?[a-z][^<>]*>"),
    "addresses": re.compile(r"https?://[^\s),，。；：（）]+"),
    "targets of links": re.compile(r"\]\([^)]*\)"),
}
#: what must stand in it as often; the words inside may be translated
COUNTED = {
    "code": re.compile(r"`[^`]+`"),
    "formulas": re.compile(r"\$[^$]+\$"),
    "bold": re.compile(r"\*\*"),
    "lines": re.compile(r"\n"),
}
BRACE = re.compile(r"[{}]")
HALF_WIDTH = re.compile(r"[\u4e00-\u9fff](?:[,;?!](?![A-Za-z0-9_])|:(?![a-z-]+:)|\.(?=\s|$))")


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
