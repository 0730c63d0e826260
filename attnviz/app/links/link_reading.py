"""What the parameters of a link to a page choose there, read before anybody opens it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attnviz.app.links import link_pack
from attnviz.app.links.choices import NONSENSE, Choice, choices_of, parameters_of
from attnviz.base.message import Problem, Several


def chosen_by(page: str, parameters: Mapping[str, str]) -> dict[Choice[Any], Any]:
    """The values of the choices that the parameters name; a Problem names the first one that makes no sense."""
    for name in parameters:
        if name not in parameters_of(page):
            raise Problem(
                "“{name}” is no parameter of {page}; it has: {allowed}",
                name=name,
                page=page,
                allowed=Several(parameters_of(page)),
            )
    found = {}
    for choice in choices_of(page):
        text = parameters.get(choice.inside or choice.name)
        if text is None or (choice.inside and not text):  # `c=`: nothing is on the canvas
            continue
        held: Any = link_pack.unpack(text) if choice.inside else text
        if choice.short:
            held = held.get(choice.short) if isinstance(held, dict) else None
            if held is None:
                continue
        try:
            found[choice] = choice.read(held)
        except NONSENSE:
            raise Problem(
                "“{value}” makes no sense as {name} of {page}",
                value=str(held)[:60],
                name=choice.name,
                page=page,
            ) from None
    return found
