"""The presentation mode: larger type, the picture as large as the room, and a bar with next and previous.

A page says with `draw_presenter` what next and previous go through: a lesson's steps, a page's sections.
"""

from collections.abc import Callable, Mapping

import streamlit as st

from attnviz.app import widgets
from attnviz.app.links import link_state
from attnviz.app.links.choices import EVERY_PAGE, Choice, PageChoices
from attnviz.app.workarounds.streamlit_adapter import app_session
from attnviz.base.words import N_, _
from attnviz.canvas.presenter import Walk, presenter_bar

PAGE = PageChoices(EVERY_PAGE)
#: students who copy the lecturer's address see the ordinary page
PRESENT = PAGE.one_of("present", ("0", "1"), is_momentary=True, label=N_("Present"))
THEME = PAGE.one_of("theme", ("system", "light", "dark"), label=N_("Theme"))  #: for serve/before_streamlit.js
FIGURE = PAGE.one_of(
    "figure", label=N_("Figure")
)  #: the one figure that another page shows of this one: see share_menu

KEY = "presenter"
_DRAWN_MODE, _MOUNTED, _HEADING = "_presenting_drawn", "_presenter_mounted", "_presented_heading"


def embedded_figure() -> str:
    """The figure to show alone. A page that is not inside another shows all of itself."""
    return link_state.value(FIGURE) if st.context.is_embedded else ""


def is_presenting() -> bool:
    """Whether the presentation mode is on; a figure alone inside another page has none."""
    return link_state.value(PRESENT) == "1" and not embedded_figure()


def begin_presenting() -> None:
    """Note the mode that the link asks for, before the page is drawn. `presenting.css` is how it looks."""
    app_session()[_DRAWN_MODE], app_session()[_MOUNTED] = is_presenting(), False


def draw_presenter(walk: Walk) -> None:
    """Listen to the page's keys and, in the presentation mode, draw its bar. Once on a page, in its fragment."""
    app_session()[_MOUNTED] = True
    presenter_bar(
        KEY,
        walk,
        is_presenting(),
        link_state.current_page(),
        on_mode=lambda present: link_state.set_and_push(PRESENT, "1" if present else "0"),
    )
    if app_session().get(_DRAWN_MODE, is_presenting()) != is_presenting():
        st.rerun(scope="app")  # a fragment ran alone, and the mode changes the whole page


def end_presenting() -> None:
    """After the page is drawn: pages without steps have the mode as well."""
    if not app_session().get(_MOUNTED):
        draw_presenter(Walk(current_heading(), "", before=False, after=False, go=lambda by: None))


def set_heading(title: str) -> None:
    """Note the page's heading, which the bar of a page without steps shows."""
    app_session()[_HEADING] = title


def current_heading() -> str:
    """The heading of the page that is drawn; empty before it has one."""
    return str(app_session().get(_HEADING, ""))


def presentation_button() -> None:
    """The button that begins a presentation."""
    st.button(
        _("Present"),
        key="present",
        icon=":material/slideshow:",
        type="tertiary",
        help=_("Larger type and nothing but the picture. Keys: p begins and ends it, ← and → walk, Escape leaves."),
        on_click=link_state.set_and_push,
        args=(PRESENT, "1"),
    )


def chosen_section(
    choice: Choice[str],
    titles: Mapping[str, str],
    label: str,
    walk: Callable[[Mapping[str, str]], Walk] | None = None,
) -> str:
    """The chosen section of a page: by a control, and in the presentation mode by next and previous.

    `walk` says of the titles what these go through: the sections, unless told.
    """
    if is_presenting():
        widgets.show_refusal(choice)
        chosen = link_state.value(choice)
        section = chosen if chosen in titles else choice.default
    else:
        section = widgets.select_one(choice, label, titles, label_visibility="collapsed")
    draw_presenter(walk_choice(choice, titles) if walk is None else walk(titles))
    return section


def walk_choice(choice: Choice[str], titles: Mapping[str, str]) -> Walk:
    """A walk through the ids of a choice."""
    ids = list(titles)

    def current_index() -> int:
        chosen = link_state.value(choice)
        return ids.index(chosen if chosen in titles else choice.default)

    def go(by: int) -> None:
        link_state.set_and_push(choice, ids[min(max(current_index() + by, 0), len(ids) - 1)])

    return Walk(
        titles[ids[current_index()]],
        f"{current_index() + 1} / {len(ids)}",
        current_index() > 0,
        current_index() < len(ids) - 1,
        go,
    )
