"""What the parameters of a link or a saved view choose on a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from attnviz.app.links import link_pack
from attnviz.app.links.choices import NONSENSE, Choice, choices_of, parameters_of
from attnviz.base.message import Problem, Several


class Unreadable(Problem):
    """A parameter of canvases, and so all that it holds, was cut or changed on the way."""


def read(page: str, parameters: Mapping[str, Any]) -> Iterator[tuple[Choice[Any], Any, Any]]:
    """Each choice that the parameters name, what they hold for it, and its value or else the error of reading it.

    A canvas is packed text in a link, and JSON already in a saved view; `c=` says that nothing is on it.
    """
    for choice in choices_of(page):
        held = parameters.get(choice.inside or choice.name)
        if held is None or (choice.inside and held == ""):
            continue
        try:
            if choice.inside:
                held = _on_canvas(choice, held)
            if held is not None:
                yield choice, held, choice.read(held)
        except NONSENSE as error:
            yield choice, held, error


def _on_canvas(choice: Choice[Any], held: Any) -> Any:
    """What a canvas's parameter holds for one of its choices."""
    try:
        whole = link_pack.unpack(held) if isinstance(held, str) else held
    except Problem as problem:
        raise Unreadable(problem.message.template, **problem.message.params) from problem
    if not choice.short:
        return whole
    if not isinstance(whole, dict):
        raise Unreadable("The value of {name} in the link cannot be read, so it is left out.", name=choice.inside)
    return whole.get(choice.short)


def chosen_by(page: str, parameters: Mapping[str, str]) -> dict[Choice[Any], Any]:
    """The values of the choices that the parameters name; a Problem names the first one that makes no sense."""
    allowed = parameters_of(page)
    for name in parameters:
        if name not in allowed:
            raise Problem(
                "“{name}” is no parameter of {page}; it has: {allowed}",
                name=name,
                page=page,
                allowed=Several(allowed),
            )
    chosen = {}
    for choice, held, value in read(page, parameters):
        if isinstance(value, Unreadable):
            raise value
        if isinstance(value, Exception):
            raise Problem(
                "“{value}” makes no sense as {name} of {page}", value=str(held)[:60], name=choice.name, page=page
            )
        chosen[choice] = value
    return chosen
