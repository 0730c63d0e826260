"""A menu of controls: closed, it draws none of them; what is set in it and is not usual stands beside it in words."""

from contextvars import ContextVar
from dataclasses import dataclass, field

from attnviz.app.text import plain
from attnviz.base.words import _


@dataclass(frozen=True)
class Menu:
    """What controls know of their menu."""

    is_open: bool
    said: list[str] = field(default_factory=list)  #: in words, what is set in it and is not usual


MENU: ContextVar[Menu | None] = ContextVar("the menu that controls are in", default=None)


def closed(label: str, words: str, unusual: bool) -> bool:
    """Whether a control is of a menu that is closed; what is set in a menu is noted for the line beside it."""
    menu = MENU.get()
    if menu is not None and unusual:
        menu.said.append(_("{choice}: {value}").format(choice=plain(label), value=plain(words)))
    return menu is not None and not menu.is_open
