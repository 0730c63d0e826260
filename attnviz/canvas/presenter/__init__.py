"""The keys of a page and the bar of the presentation mode, as the browser is handed them and as it answers."""

from collections.abc import Callable
from dataclasses import asdict, dataclass

import streamlit as st

from attnviz.base.words import _, tongue
from attnviz.canvas.shared.component import answering, component, reported


@dataclass(frozen=True)
class Presented:
    """What the bar shows: the name of the step or section, its place, and whether one comes before and after it."""

    present: bool
    page: str = ""
    title: str = ""
    place: str = ""
    before: bool = False
    after: bool = False
    walks: bool = False  #: arrow keys walk the page outside of the presentation mode, too


def presenter(key: str, shown: Presented, *, on_walk: Callable[[int], None], on_mode: Callable[[bool], None]) -> None:
    """Mount it. `on_walk` gets by how many steps to go, `on_mode` whether it presents; both are callbacks.

    The browser tells how many steps were asked for since it began, and the session keeps how many were taken: presses
    that arrive together, or while a page is being drawn, all count.
    """
    taken = f"_{key}_taken"

    def heard() -> None:
        now = reported(key, "stood")
        total, present = now.get("total"), now.get("present")
        if not isinstance(total, int) or not isinstance(present, bool):
            return
        by = total - st.session_state.get(taken, 0)
        st.session_state[taken] = total
        on_mode(present)
        if by:
            on_walk(by)

    words = {
        "bar": _("Presentation"),
        "previous": _("Previous"),
        "next": _("Next"),
        "light": _("Light"),
        "dark": _("Dark"),
        "leave": _("Leave the presentation (Escape)"),
    }
    data = {"total": st.session_state.get(taken, 0), "words": words, "language": tongue()}
    data |= asdict(shown) | answering(reported(key, "stood").get("seq"))
    component("presenter")(key=key, data=data, on_stood_change=heard)
