"""Streamlit's widgets over declared choices: what a widget shows is what was chosen, and what it answers.

Each draws one `Choice`, writes the link when the visitor changes it, and says in a line above it when the link
asked for something that cannot be. None keeps a value of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar

import streamlit as st

from attnviz.ui.shared import link_state
from attnviz.ui.shared.choices import Choice
from attnviz.ui.shared.text import spoken

N = TypeVar("N", int, float)
WidgetStyle = Literal["segmented", "select", "radio"]
Visibility = Literal["visible", "hidden", "collapsed"]
Width = int | Literal["stretch"]


def one_of(
    choice: Choice[str],
    label: str,
    options: Mapping[str, str],
    *,
    usual: str | None = None,
    style: WidgetStyle = "segmented",
    help: str | None = None,
    label_visibility: Visibility = "visible",
) -> str:
    """One of `options` (id -> words in the visitor's language); the link holds the id.

    `usual` is what stands there while nobody chose, where the page and not the declaration knows it.
    """
    first = usual if usual is not None else choice.default
    first = first if first in options else next(iter(options))
    asked = link_state.value(choice)
    nobody_chose = asked == choice.default
    if not nobody_chose and asked not in options:
        link_state.refuse(choice, asked, options[first])
        nobody_chose = True
    say_refusal(choice)
    _show(choice, first if nobody_chose else asked)
    ids = list(options)
    common: dict[str, Any] = {
        "format_func": options.__getitem__,
        "key": choice.name,
        "help": help,
        "label_visibility": label_visibility,
        "on_change": _hear,
        "args": (choice, first),
    }
    if style == "segmented":
        picked = st.segmented_control(label, ids, required=True, **common)
    elif style == "radio":
        picked = st.radio(label, ids, horizontal=True, **common)
    else:
        picked = st.selectbox(label, ids, **common)
    return str(picked) if picked in options else first


def several(
    choice: Choice[tuple[str, ...] | None],
    label: str,
    options: Mapping[str, str],
    *,
    usual: Sequence[str] = (),
    help: str | None = None,
) -> tuple[str, ...]:
    """Some of `options`; while nobody chose, the `usual` ones."""
    asked = link_state.value(choice)
    lost = [each for each in asked or () if each not in options]
    if lost:
        link_state.refuse(choice, ", ".join(lost), ", ".join(each for each in asked or () if each in options))
        link_state.keep(choice, tuple(each for each in asked or () if each in options) or None)
        asked = link_state.value(choice)
    say_refusal(choice)
    _show(choice, list(usual if asked is None else asked))
    picked = st.multiselect(
        label,
        list(options),
        format_func=options.__getitem__,
        key=choice.name,
        help=help,
        on_change=_hear_several,
        args=(choice,),
    )
    return tuple(picked)


def number(
    choice: Choice[N],
    label: str,
    *,
    step: N | None = None,
    high: N | None = None,
    help: str | None = None,
    width: Width = "stretch",
) -> N:
    """A box for a number. `high` narrows the declared range where the page knows better."""
    low, top = _range(choice, high)
    say_refusal(choice)
    _show(choice, min(max(link_state.value(choice), low), top))
    picked = st.number_input(
        label,
        min_value=low,
        max_value=top,
        step=step,
        format="%d" if choice.kind == "whole" else "%g",
        key=choice.name,
        help=help,
        on_change=_hear,
        args=(choice,),
        width=width,
    )
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
    """A slider for a number. `usual` is where it stands while nobody chose, if the declaration says None."""
    low, top = _range(choice, high)
    asked = link_state.value(choice)
    say_refusal(choice)
    _show(choice, min(max(usual if asked is None else asked, low), top))
    return st.slider(
        label, low, top, step=step, key=choice.name, help=help, on_change=_hear, args=(choice, usual), width=width
    )


def toggle(choice: Choice[bool], label: str, *, help: str | None = None) -> bool:
    """A switch."""
    say_refusal(choice)
    _show(choice, link_state.value(choice))
    return bool(st.toggle(label, key=choice.name, help=help, on_change=_hear, args=(choice,)))


def text(
    choice: Choice[str],
    label: str,
    *,
    usual: str | None = None,
    live: bool = False,
    help: str | None = None,
    placeholder: str | None = None,
    width: Width = "stretch",
) -> str:
    """One line of text."""
    say_refusal(choice)
    _show(choice, _text_shown(choice, usual))
    more: dict[str, Any] = {"live": True} if live else {}
    typed = st.text_input(
        label,
        key=choice.name,
        max_chars=choice.longest,
        help=help,
        placeholder=placeholder,
        on_change=_hear,
        args=(choice, usual),
        width=width,
        **more,
    )
    return typed or ""


def text_area(
    choice: Choice[str], label: str, *, usual: str | None = None, height: int = 76, help: str | None = None
) -> str:
    """Several lines of text."""
    say_refusal(choice)
    _show(choice, _text_shown(choice, usual))
    typed = st.text_area(
        label,
        key=choice.name,
        max_chars=choice.longest,
        height=height,
        help=help,
        on_change=_hear,
        args=(choice, usual),
    )
    return typed or ""


def expander(choice: Choice[bool], title: str, *, icon: str | None = None) -> Any:
    """A box that opens; its `.open` says whether it is. What stands in it may be computed only then."""
    _show(choice, link_state.value(choice))

    return st.expander(title, icon=icon, key=choice.name, on_change=_hear, args=(choice,))


def say_refusals() -> None:
    """What the link asked of canvases in vain: the main script says it above the page."""
    for message in link_state.refusals_without_widget():
        st.warning(spoken(message))


def say_refusal(choice: Choice[Any]) -> None:
    """In a line, why what the link asked for is not shown. The widgets here say it themselves."""
    message = link_state.refusal(choice)
    if message is not None:
        st.caption(spoken(message))


def _show(choice: Choice[Any], chosen: Any) -> None:
    """Set the widget to what was chosen, before it is drawn."""
    if choice.name not in st.session_state or st.session_state[choice.name] != chosen:
        st.session_state[choice.name] = chosen


def _hear(choice: Choice[Any], usual: Any = None) -> None:
    """The visitor changed the widget: into the session and the link."""
    picked = st.session_state[choice.name]
    nothing = picked is None or (usual is not None and picked == usual)
    link_state.put(choice, choice.default if nothing else picked)


def _hear_several(choice: Choice[tuple[str, ...] | None]) -> None:
    link_state.put(choice, tuple(st.session_state[choice.name]) or None)


def _text_shown(choice: Choice[str], usual: str | None) -> str:
    asked = link_state.value(choice)
    return usual if usual is not None and asked == choice.default else asked


def _range(choice: Choice[Any], high: Any) -> tuple[Any, Any]:
    kind = float if choice.kind == "real" else int
    top = choice.high if high is None else min(high, choice.high)
    return kind(choice.low), kind(top)
