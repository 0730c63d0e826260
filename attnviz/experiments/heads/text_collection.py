"""A small collection of prose in the public domain: eight passages from each of eight novels of 1813 to 1897.

Chosen by lot among the passages of 300 to 430 characters, without those whose words would hurt a reader today. Each
begins with a paragraph and ends with a sentence.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from itertools import chain

FILE = "public_domain.json"


@dataclass(frozen=True)
class Book:
    """Where passages are from."""

    title: str
    author: str
    year: int
    ebook: int  #: its number at Project Gutenberg
    passages: tuple[str, ...]


@lru_cache(maxsize=1)
def books() -> tuple[Book, ...]:
    """The eight novels."""
    held = json.loads((files(__package__) / "data" / FILE).read_text("utf-8"))
    return tuple(Book(**(book | {"passages": tuple(book["passages"])})) for book in held["books"])


def passages() -> tuple[str, ...]:
    """All passages: the first of every book, then the second of every book, and so on."""
    return tuple(chain.from_iterable(zip(*(book.passages for book in books()), strict=True)))


def book_of(passage: str) -> Book | None:
    """The book that a passage, or the beginning of one, is from."""
    return next((book for book in books() for whole in book.passages if whole.startswith(passage)), None)
