"""The keys of a page and the bar of the presentation mode: what the browser is sent, and what it reports."""

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from attnviz.base.words import _, current_language
from attnviz.canvas.shared.component import acknowledgement, get_component, last_report, last_sent


@dataclass(frozen=True)
class Walk:
    """The steps that next and previous walk on a page, and the texts of the bar."""

    title: str  #: of the step or section
    position: str  #: such as "3 / 7"
    before: bool
    after: bool
    go: Callable[[int], None]  #: by how many steps, counted from where the page is then; a callback
    steps: int = 0  #: how many steps next takes in the picture itself, before it goes to the picture below
    caption: str = ""  #: of what is on show, where the title is of more, such as a lesson: for phones in a room
    always: bool = False  #: arrow keys walk outside of the presentation mode, too


def presenter_bar(key: str, walk: Walk, present: bool, page: str, on_mode: Callable[[bool], None]) -> None:
    """Mount keys and bar; `present`: whether `page` is presented; `on_mode` receives whether it is to be.

    The browser tells how many steps were asked for since it began, and the session keeps how many were taken: presses
    that arrive together, or while a page is being drawn, all count.
    """
    taken_key = f"_{key}_taken"

    def take_new_steps() -> None:
        total, present = last_sent(int, key, "stood", "total"), last_sent(bool, key, "stood", "present")
        if total is None or present is None:
            return
        new_steps = total - st.session_state.get(taken_key, 0)
        st.session_state[taken_key] = total
        on_mode(present)
        if new_steps:
            walk.go(new_steps)

    texts = {
        "bar": _("Presentation"),
        "previous": _("Previous"),
        "next": _("Next"),
        "light": _("Light"),
        "dark": _("Dark"),
        "drawer": _("All heads"),
        "leave": _("Leave the presentation (Escape)"),
    }
    data = {
        "present": present,
        "page": page,
        "title": walk.title,
        "place": walk.position,
        "caption": walk.caption,
        "before": walk.before,
        "after": walk.after,
        "walks": walk.always,
        "steps": walk.steps,
        "total": st.session_state.get(taken_key, 0),
        "words": texts,
        "language": current_language(),
    }
    data |= acknowledgement(last_report(key, "stood").get("seq"))
    get_component("presenter")(key=key, data=data, on_stood_change=take_new_steps)
