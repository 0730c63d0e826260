"""The names under which a lecturer's file asks for computed facts: module and function, as in "row_facts.score"."""

from __future__ import annotations

import importlib
import inspect
from functools import cache
from typing import get_type_hints

from attnviz.pages.lessons.maths.subject import Facts, FactsOf

MODULES = ("mixture", "row", "scaling", "heads", "mask", "order", "cache", "model")


@cache
def by_name() -> dict[str, FactsOf]:
    """Every function that answers Facts about a sentence."""
    found: dict[str, FactsOf] = {}
    for short in MODULES:
        module = importlib.import_module(f"attnviz.pages.lessons.maths.{short}_facts")
        for name, function in inspect.getmembers(module, inspect.isfunction):
            mine = function.__module__ == module.__name__ and not name.startswith("_")
            if mine and get_type_hints(function).get("return") is Facts:
                found[name_of(function)] = function
    return found


def name_of(function: FactsOf) -> str:
    """The name of a function of facts."""
    return f"{function.__module__.rsplit('.', 1)[-1]}.{function.__name__}"
