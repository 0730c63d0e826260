"""Words for people: `_()` marks a sentence for translation and looks it up.

Every layer above the core may import it; it imports nothing but the standard library. Whoever runs
the program decides on the language: `attnviz.ui` installs a function that reads it from the
visitor's browser; without such a function sentences are in English.
"""

from __future__ import annotations

import gettext
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import Protocol

LOCALE_DIR = Path(__file__).parent / "locale"


class Sayable(Protocol):
    """The shape of attnviz.core.message.Message, so that this module need not import it."""

    @property
    def template(self) -> str: ...
    @property
    def params(self) -> Mapping[str, object]: ...


_language: Callable[[], str | None] = lambda: None  # noqa: E731
_chosen: ContextVar[str | None] = ContextVar("language")


def set_language_source(source: Callable[[], str | None]) -> None:
    """Ask `source` for the language ("en", "zh-CN", or None) each time a sentence is looked up."""
    global _language
    _language = source


def language() -> str | None:
    """The language in which sentences are looked up at the moment; None means English."""
    try:
        return _chosen.get()
    except LookupError:
        return _language()


@contextmanager
def speaking(language: str | None) -> Iterator[None]:
    """Look sentences up in `language` inside the block: for work that does not run in the visitor's own session."""
    token = _chosen.set(language)
    try:
        yield
    finally:
        _chosen.reset(token)


@lru_cache(maxsize=32)
def _translations(language: str | None) -> gettext.NullTranslations:
    if not language:
        return gettext.NullTranslations()
    tag = language.replace("-", "_")
    return gettext.translation("attnviz", LOCALE_DIR, [tag, tag.split("_")[0]], fallback=True)


def _(text: str) -> str:
    """The sentence in the visitor's language."""
    return _translations(language()).gettext(text)


def ngettext(one: str, many: str, n: int) -> str:
    """The singular or plural sentence for `n`, in the visitor's language."""
    return _translations(language()).ngettext(one, many, n)


def N_(text: str) -> str:
    """Mark a sentence for translation without looking it up: for tables made at import time."""
    return text


def say(message: Sayable) -> str:
    """A Message, or a Problem's `.message`, in the visitor's language."""
    return _(message.template).format(**message.params)
