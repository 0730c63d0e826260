"""Where a fragment stands is remembered without taking the whole page apart.

Streamlit 1.67 remembers for every fragment of every run where it stands, by `copy.deepcopy` of all containers around
it, each with all of its own containers again: a quarter of the processor time of an answer. Here each container is
copied once. What Streamlit writes through a copy are its own cursors, so those are copies too; the rest of a container
never changes.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Mapping
from typing import Any

from streamlit.cursor import Cursor, LockedCursor, RunningCursor, SparseList
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime import fragment

NAME = "deepcopy"
#: what Streamlit copies of a container, and all that a cursor is known to hold
OF_A_CONTAINER = {
    "_block_type",
    "_creating_fragment_id",
    "_form_data",
    "_parent",
    "_provided_cursor",
    "_root_container",
}
OF_A_CURSOR = {"_index", "_parent_path", "_root_container", "_transient_elements", "_transient_index"}


class _OnlyTheirs(Exception):
    """Something that only Streamlit knows how to copy."""


def copied(value: Any) -> Any:
    """What `copy.deepcopy` makes of the containers, or the cursors, that a fragment stands in."""
    containers: dict[int, DeltaGenerator] = {}
    try:
        if isinstance(value, tuple):
            return tuple(_container(each, containers) for each in value)
        if isinstance(value, Mapping):
            return {name: _cursor(each) for name, each in value.items()}
    except _OnlyTheirs:
        pass
    return copy.deepcopy(value)


def _container(original: Any, known: dict[int, DeltaGenerator]) -> DeltaGenerator:
    if id(original) in known:
        return known[id(original)]
    if getattr(type(original), "__deepcopy__", None) is not DeltaGenerator.__deepcopy__:
        raise _OnlyTheirs
    made = DeltaGenerator.__new__(DeltaGenerator)
    vars(made).update({name: getattr(original, name) for name in OF_A_CONTAINER})
    cursor = original._cursor  # not the provided one: the page's own container has none, its copy stays where it is
    made._provided_cursor = None if cursor is None else _cursor(cursor)
    made._parent = None if original._parent is None else _container(original._parent, known)
    known[id(original)] = made
    return made


def _cursor(original: Any) -> Cursor:
    if not isinstance(original, Cursor) or vars(original).keys() != OF_A_CURSOR:
        raise _OnlyTheirs
    made: Cursor = type(original).__new__(type(original))
    vars(made).update(vars(original))
    passing = original._transient_elements
    made._transient_elements = copy.deepcopy(passing) if len(passing) else SparseList()
    return made


def remember_places() -> None:
    """Let every fragment of this process remember its place so; a second call changes nothing."""
    setattr(fragment, NAME, copied)


def has_what_it_needs() -> bool:
    """Whether fragments still remember their places by a function of this name, and containers hold what they held."""
    asked = inspect.getsource(fragment)
    return (
        callable(getattr(fragment, NAME, None))
        and f"{NAME}(ctx.cursors)" in asked
        and f"{NAME}(context_dg_stack.get())" in asked
        and vars(DeltaGenerator(root_container=None)).keys() == OF_A_CONTAINER
        and "__deepcopy__" in vars(DeltaGenerator)
        and vars(RunningCursor(root_container=0)).keys() == OF_A_CURSOR
        and vars(LockedCursor(root_container=0)).keys() == OF_A_CURSOR
    )
