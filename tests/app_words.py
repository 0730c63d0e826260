"""The sentences of the app, collected once for all tests of a process: it takes some seconds."""

from functools import cache

from babel.messages.catalog import Catalog

from scripts import words


@cache
def collected() -> Catalog:
    """Every sentence of the code."""
    return words.collected()


@cache
def texts() -> frozenset[str]:
    """The same as text; singular and plural forms count separately."""
    ids = (each.id if isinstance(each.id, tuple | list) else (each.id,) for each in collected() if each.id)
    return frozenset(text for each in ids for text in each)
