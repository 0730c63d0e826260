"""Translation: `_()` marks a sentence for translation and looks it up.

Every layer above the core may import it. `attnviz.serve` installs a function that reads the language
from the visitor's browser; without such a function sentences are in English.

A language is one file, locale/ID.po, and what `python -m scripts.languages` compiles of it, locale/ID.mo.
"""

import gettext
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache, reduce
from pathlib import Path
from typing import Any

from attnviz.base.message import Message, MessageList, Problem
from attnviz.base.rounding import Template

LONGEST_TAG = 35  #: characters of a language's name; what a browser sends may have any length
LOCALE_DIR = Path(__file__).parents[1] / "locale"
ENGLISH = "en"  #: the language that the sentences in the code are in


_NOT_CHOSEN: Any = object()  #: no language was chosen in this context
_language: Callable[[], str | None] = lambda: None  # noqa: E731
_default_language: str | None = None
_context_language: ContextVar[str | None] = ContextVar("language")


def set_language_source(source: Callable[[], str | None]) -> None:
    """Ask `source` for the language ("en", "zh-CN", or None) each time a sentence is looked up."""
    global _language
    _language = source


def set_default_language(language: str | None) -> None:
    """Set the language that is used if `set_language_source`'s function returns None."""
    global _default_language
    _default_language = language


def selected_language() -> str | None:
    """The language in which sentences are looked up at the moment; None means English."""
    in_context = _context_language.get(_NOT_CHOSEN)
    return _language() or _default_language if in_context is _NOT_CHOSEN else in_context


@contextmanager
def use_language(language: str | None) -> Iterator[None]:
    """Look sentences up in `language` inside the block: for work that does not run in the visitor's own session."""
    token = _context_language.set(language)
    try:
        yield
    finally:
        _context_language.reset(token)


@lru_cache(maxsize=1)
def languages() -> Mapping[str, str]:
    """Each language that sentences can be looked up in, and its own name for itself; English comes first."""
    others = sorted(path.stem for path in LOCALE_DIR.glob("*.mo"))
    return {ENGLISH: OWN_NAME} | {language: _catalogue(language).gettext(OWN_NAME) for language in others}


def require_languages(*requested: str) -> None:
    """Raise a Problem for the first language that sentences cannot be looked up in."""
    for language in requested:
        if language not in languages():
            raise Problem(
                "There is no language {asked}; there are: {known}", asked=language, known=MessageList(languages())
            )


def supported_language(requested: str | None) -> str:
    """The nearest supported language: "zh" for "zh-CN" and "zh_TW.UTF-8"; English if there is none."""
    tag = (requested or "")[:LONGEST_TAG].partition(".")[0].replace("-", "_")
    shorter = [tag[:end] for end in range(len(tag), 0, -1) if tag[end : end + 1] in ("", "_")]
    return next((language for language in shorter if language in languages()), ENGLISH)


def current_language() -> str:
    """The language in which sentences are found at the moment, as `languages` names it.

    It is read from the catalogue that `_` uses. Charts cached for all visitors under this name are then always in it.
    """
    return str(_translations(selected_language()).info().get("language", ENGLISH))


@lru_cache(maxsize=32)
def _translations(language: str | None) -> gettext.NullTranslations:
    return _catalogue(supported_language(language))


@lru_cache(maxsize=32)
def _catalogue(name: str) -> gettext.NullTranslations:
    """The catalogue of one language; `name` must be one of `languages`, never a browser's value."""
    if name == ENGLISH:
        return gettext.NullTranslations()
    with (LOCALE_DIR / f"{name}.mo").open("rb") as file:
        catalogue = gettext.GNUTranslations(file)
    catalogue.info()["language"] = name  # for `current_language`, whatever the file's header says
    return catalogue


def _(text: str) -> str:
    """The sentence in the visitor's language."""
    translations = _translations(selected_language())
    translated = translations.gettext(text)
    return Template(translated, None if translated is text else getattr(translations, "plural", None))


def ngettext(singular: str, plural: str, n: int) -> str:
    """The singular or plural sentence for `n`, in the visitor's language."""
    return Template(_translations(selected_language()).ngettext(singular, plural, n))


def N_(text: str) -> str:
    """Mark a sentence for translation without looking it up: for tables made at import time."""
    return text


OWN_NAME = N_("English")  #: each language translates it by its own name for itself: 中文


def translate_message(message: Message, format_value: Callable[[object], object] = lambda value: value) -> str:
    """A Message, or a Problem's `.message`, in the visitor's language; `format_value` formats each value."""
    return _(message.template).format(
        **{name: translate_value(value, format_value) for name, value in message.params.items()}
    )


def translate_value(value: object, format_value: Callable[[object], object] = lambda value: value) -> object:
    """Translate a value of a Message: nested messages and lists are translated, others go through `format_value`."""
    if isinstance(value, Message):
        return translate_message(value, format_value)
    if isinstance(value, MessageList):
        return join_list(translate_value(member, format_value) for member in value.values)
    return format_value(value)


def join_list(things: Iterable[object]) -> str:
    """Join list members as the visitor's language separates them: "a, b, c"."""
    return _join_by_template(_("{first}, {next}"), things)


def join_clauses(parts: Iterable[object]) -> str:
    """Parts of one sentence, each of several words: "a: 1; b: 2"."""
    return _join_by_template(_("{first}; {next}"), parts)


def join_sentences(*texts: str) -> str:
    """Whole sentences one after the other; an empty one is left out. Chinese has no space between them."""
    return _join_by_template(_("{first} {next}"), filter(None, texts))


def end_sentence(text: str) -> str:
    """Add the full stop to a text that has none."""
    return _("{said}.").format(said=text)


def _join_by_template(template: str, things: Iterable[object]) -> str:
    """Each pair of neighbours as `template` puts {first} and {next}."""
    texts = [str(thing) for thing in things]
    return reduce(lambda before, after: template.format(first=before, next=after), texts) if texts else ""
