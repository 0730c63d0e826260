"""Streamlit's widgets for declared choices: a widget shows the chosen value, and returns it.

Each draws one `Choice`, writes the link when the visitor changes it, and explains in a line above it why a value
from the link is not used. None keeps a value of its own.
"""

from collections.abc import Collection, Hashable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, TypeVar

import streamlit as st

from attnviz.app.links import link_reading, link_state
from attnviz.app.links.choices import Choice
from attnviz.app.text import escape_markdown, translate_markdown
from attnviz.app.widget_values import is_late, set_before_drawn
from attnviz.app.workarounds import streamlit_adapter
from attnviz.base.message import Message
from attnviz.base.words import _, selected_language

N = TypeVar("N", int, float)
Id = TypeVar("Id", bound=Hashable)
Width = int | Literal["stretch"]

_SPOKEN = "_language_of_select_boxes"


@dataclass(frozen=True)
class Menu:
    """State of the menu around controls; a closed menu draws none of them."""

    is_open: bool
    settings: list[str] = field(default_factory=list)  #: in words, what is set in it and is not usual


MENU: ContextVar[Menu | None] = ContextVar("the menu that controls are in", default=None)


def select_one(
    choice: Choice[str],
    label: str,
    options: Mapping[str, str],
    *,
    usual: str | None = None,
    style: Literal["segmented", "select", "radio"] = "segmented",
    **looks: Any,
) -> str:
    """One of `options` (id -> words in the visitor's language); the link holds the id.

    `usual` is the id that is selected while the visitor has chosen nothing, for choices without a default of their own;
    `looks`: a help, a width, a label hidden.
    """
    first = usual if usual is not None else choice.default
    first = first if first in options else next(iter(options))
    chosen = link_state.value(choice)
    if chosen == choice.default:
        chosen = first
    elif chosen not in options:
        link_state.refuse(choice, chosen, options[first])
        chosen = first
    if _is_in_closed_menu(choice, label, options[chosen], chosen != first):
        return chosen
    ids = list(options)
    common = _widget_arguments(choice, chosen, first) | looks | {"format_func": options.__getitem__}
    if style == "segmented":
        picked = st.segmented_control(label, ids, required=True, **common)
    elif style == "radio":
        picked = st.radio(label, ids, horizontal=True, **common)
    else:
        _refresh_language(choice)
        picked = st.selectbox(label, ids, **common)
    return str(picked) if picked in options else first


def select_several(
    choice: Choice[Any],
    label: str,
    options: Mapping[Id, str],
    *,
    usual: Sequence[Id] = (),
    help: str | None = None,
    placeholder: str | None = None,
) -> tuple[Id, ...]:
    """Some of `options`, in a list to search in; the `usual` ones while the visitor has chosen nothing.

    Enter takes the first that begins as typed, which is the one that was typed whole, as head 1.3: Streamlit would take
    all that hold these letters somewhere.
    """
    common = _widget_arguments(choice, list(selected_options(choice, options, usual))) | {
        "filter_mode": "prefix",
        "select_all": False,
    }
    form = options.__getitem__
    return tuple(st.multiselect(label, list(options), format_func=form, help=help, placeholder=placeholder, **common))


def selected_options(choice: Choice[Any], options: Collection[Id], usual: Sequence[Id] = ()) -> tuple[Id, ...]:
    """The chosen ones of `options`, in their order. Ids that do not exist are left out, and the visitor is told."""
    requested = link_state.value(choice)
    if not requested:
        return tuple(usual)
    lost = [id for id in requested if id not in options]
    selected = tuple(id for id in options if id in requested)
    if lost:
        link_state.omit_items(choice, selected or choice.default, lost)
    return selected or tuple(usual)


def number_box(
    choice: Choice[N],
    label: str,
    *,
    step: N | None = None,
    high: N | None = None,
    help: str | None = None,
    width: Width = "stretch",
) -> N:
    """A box for a number. `high` narrows the declared range where the page knows better.

    A number above it stays in the link, for a page that has as many; here the largest is shown, and a line says so.
    """
    low, top = _bounds(choice, high)
    show_too_high(choice, top)
    number = min(max(link_state.value(choice), low), top)
    if _is_in_closed_menu(choice, label, f"{number:,.9g}", number != choice.default):
        return number
    form = "%d" if choice.kind == "whole" else "%g"
    common = _widget_arguments(choice, number) | {"step": step, "format": form, "help": help, "width": width}
    picked = st.number_input(label, min_value=low, max_value=top, **common)
    return choice.default if picked is None else picked


def slider(
    choice: Choice[Any],
    label: str,
    *,
    step: float | None = None,
    high: float | None = None,
    usual: float | None = None,
    help: str | None = None,
    width: Width = "stretch",
) -> Any:
    """A slider for a number. `usual` is its value while nothing is chosen, for a choice whose default is None."""
    low, top = _bounds(choice, high)
    requested = link_state.value(choice)
    show_too_high(choice, top)
    number = min(max(usual if requested is None else requested, low), top)
    if _is_in_closed_menu(choice, label, f"{number:,.9g}", number != (choice.default if usual is None else usual)):
        return number
    return st.slider(label, low, top, step=step, help=help, width=width, **_widget_arguments(choice, number, usual))


def toggle(choice: Choice[Any], label: str, *, usual: bool | None = None, help: str | None = None) -> bool:
    """A switch. `usual` is its state while nothing is chosen, for a choice whose default is None.

    `help` stands below it: Streamlit's own mark lies in the label, where a click on it turns the switch.
    """
    requested = link_state.value(choice)
    is_on = bool(usual if requested is None else requested)
    if _is_in_closed_menu(choice, label, _("on") if is_on else _("off"), is_on != bool(choice.default or usual)):
        return is_on
    chosen = bool(st.toggle(label, **_widget_arguments(choice, is_on, usual)))
    if help:
        st.caption(help)
    return chosen


def text_box(
    choice: Choice[str],
    label: str,
    *,
    usual: str | None = None,
    height: int | Literal["content"] | None = None,
    live: bool = False,
    help: str | None = None,
    placeholder: str | None = None,
    **looks: Any,
) -> str:
    """One line of text, or several where the box has a `height`; `looks`: a width, a label hidden."""
    requested = link_state.value(choice)
    common = _widget_arguments(choice, usual if usual is not None and requested == choice.default else requested, usual)
    common |= {"help": help, "placeholder": placeholder, **looks}
    if height is not None:
        return st.text_area(label, height=height, **common) or ""
    return st.text_input(label, live=live, **common) or ""


def expander(choice: Choice[bool], title: str, *, icon: str | None = None) -> Any:
    """A box that unfolds. Its `.open` is True while it is open, so that its contents need not be computed before."""
    set_before_drawn(choice.name, link_state.value(choice), partial(_write_change, choice))
    return st.expander(title, icon=icon, key=choice.name, on_change=_write_change, args=(choice,))


def show_refusal(choice: Choice[Any]) -> None:
    """Show in a line why the link's value for `choice`, or not all that was typed, is not used.

    The widgets of this module do so themselves: Streamlit takes nothing of a text above its limit, and says nothing.
    """
    message, typed = link_state.refusal(choice), st.session_state.get(choice.name)
    if choice.longest and isinstance(typed, str) and len(typed) > choice.longest:
        counts = {"n": len(typed), "most": choice.longest}
        message = Message("Of {n} characters only the first {most} are used.", counts)
    if message is not None:
        link_state.mark_refusal_shown(choice)
        st.caption(translate_markdown(message))


def limit_choice(choice: Choice[Any], last: int, usual: int | None = None) -> int:
    """A chosen number that no widget of this module draws; `last` where there are no more, and a line says so.

    `usual` is the number while nothing is chosen, for a choice whose default is None.
    """
    show_too_high(choice, last)
    requested = link_state.value(choice)
    return min(requested if usual is None or requested is not None else usual, last)


def one_of_numbers(choice: Choice[int | None], allowed: Sequence[int], usual: int) -> int:
    """A chosen number that no widget of this module draws; `usual` for one not `allowed`, and a line says so."""
    requested = link_state.value(choice)
    if requested is None or requested in allowed:
        return usual if requested is None else requested
    show_substitute(choice, link_reading.not_listed(choice, requested, allowed, usual))
    return usual


def show_too_high(choice: Choice[Any], top: float) -> None:
    """Say in a line that the link asks for more than there is here, where `top` is the most and is shown."""
    requested = link_state.value(choice)
    if requested is not None and requested > top and requested != choice.default:
        show_substitute(
            choice,
            Message(
                "The link asks for “{name}” = “{asked}”; here it goes up to {top}, which is shown instead.",
                {"name": choice.label, "asked": f"{requested:,.9g}", "top": f"{top:,.9g}"},
            ),
        )


def show_substitute(choice: Choice[Any], message: Message) -> None:
    """Say in a line what is shown in place of a value that does not exist here, and note it for a command."""
    streamlit_adapter.session_dict(link_state.INSTEAD)[choice.name] = message
    st.caption(translate_markdown(message))


def _refresh_language(choice: Choice[str]) -> None:
    """Set a box that unfolds once more after the language has changed: it keeps the words of what it last showed."""
    languages = streamlit_adapter.session_dict(_SPOKEN)
    if languages.get(choice.name, selected_language()) != selected_language():
        st.session_state[choice.name] = st.session_state[choice.name]
    languages[choice.name] = selected_language()


def _write_change(choice: Choice[Any], usual: Any = None) -> None:
    """Write what the visitor changed into the session and the link. A callback."""
    if is_late(choice.name):
        return
    picked = st.session_state[choice.name]
    if isinstance(picked, list):
        picked = tuple(picked) or None
    nothing = picked is None or (usual is not None and picked == usual)
    link_state.set_and_push(choice, choice.default if nothing else picked)


def _is_in_closed_menu(choice: Choice[Any], label: str, value_text: str, unusual: bool) -> bool:
    """Whether a control is of a menu that is closed; why the link's value is not used is said in its place.

    What is set in a menu, open or not, is noted for the line beside it.
    """
    menu = MENU.get()
    if menu is None:
        return False
    if unusual:
        menu.settings.append(
            _("{choice}: {value}").format(choice=escape_markdown(label), value=escape_markdown(value_text))
        )
    if not menu.is_open:
        show_refusal(choice)
    return not menu.is_open


def _widget_arguments(choice: Choice[Any], value: Any, usual: Any = None) -> dict[str, Any]:
    """Set a widget's value, say above it why the link's is not used, and return what every widget is given."""
    show_refusal(choice)
    set_before_drawn(choice.name, value, partial(_write_change, choice, usual))
    return {"key": choice.name, "on_change": _write_change, "args": (choice, usual)}


def _bounds(choice: Choice[Any], high: Any) -> tuple[Any, Any]:
    kind = float if choice.kind == "real" else int
    return kind(choice.low), kind(choice.high if high is None else min(high, choice.high))
