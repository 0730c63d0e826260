"""Building blocks of a page: heading, sections (one is drawn), menus and columns."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Literal, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.app import glossary_terms, presenting, teaching, widgets
from attnviz.app.links import link_state
from attnviz.app.links.choices import Choice, page_choices
from attnviz.app.page_entry import Page, page_file
from attnviz.app.panel import show_problems
from attnviz.app.share_menu import share_menu
from attnviz.app.text import escape_markdown
from attnviz.base.words import _

T = TypeVar("T")
SectionPanel = Callable[[], str | None]  #: a section of a page; some answer the program of their numbers


def draw_heading(page: Page, *, about: bool = True) -> None:
    """Draw the title with what presents and shares the view, what the page is `about`, and its words explained.

    On a projector the sentences about it stand beside the title.
    """
    title = _(page.heading)
    presenting.set_heading(title)
    ends: dict[str, Any] = {"horizontal": True, "vertical_alignment": "center"}
    with st.container(horizontal_alignment="distribute", key="page-heading", **ends):
        st.title(title, anchor=False, width="content")
        if not presenting.is_presenting():
            with st.container(width="content", gap="small", **ends):
                if page.terms:
                    glossary_terms.terms_menu(*page.terms)
                teaching.teach_button()
                presenting.presentation_button()
                share_menu()
            if about and page.about:
                st.markdown(_(page.about))


def draw_sections(
    page: Page,
    choice: Choice[str],
    sections: Mapping[str, tuple[str, SectionPanel]],
    label: str = "",
    walk: Callable[[Mapping[str, str]], presenting.Walk] | None = None,
) -> str | None:
    """Draw the heading, the choice of a section and the one that is chosen, each a title and a panel by its id.

    `label` is what the choice is called for those who hear it, "Section" unless told; `walk` says of the titles what
    next and previous go through, the sections unless told. Answers what the panel does; None where it failed, of which
    the page then tells.
    """
    draw_heading(page)
    titles = {name: title for name, (title, _panel) in sections.items()}
    section = presenting.chosen_section(choice, titles, label or _("Section"), walk)
    with show_problems():
        return sections[section][1]()
    return None


@contextmanager
def menu(
    label: str, key: str, *, icon: str = "tune", type: Literal["secondary", "tertiary"] = "secondary"
) -> Iterator[None]:
    """A menu of controls, which are drawn once it is open; what is set in it and is not usual is said in a line.

    Nothing but controls: what else they say while it is closed, of a link's value, stands beside it.
    """
    box = st.popover(label, icon=f":material/{icon}:", type=type, key=key, on_change="rerun")
    inside = widgets.Menu(bool(box.open))
    before = widgets.MENU.set(inside)
    try:
        with box if box.open else nullcontext():
            yield
    finally:
        widgets.MENU.reset(before)
    if inside.settings:
        st.caption(" · ".join(inside.settings), width="content")


def more_menu() -> AbstractContextManager[None]:
    """The menu of what is rarely chosen: one on a page or a section of it."""
    return menu(_("More"), "more")


def open_explorer(model: str, text: str, at: tuple[int, int]) -> None:
    """Show one head of a model on a sentence in the explorer, with nothing changed."""
    nothing = {"second": "", "pair": None, "pins": None, "stage": None, "painted": None, "hide": (), "quiet": ()}
    named = {"model": model, "text": text, "at": at, "frame": "usual"} | nothing
    for choice in page_choices("explore"):
        if choice.name in named:
            link_state.set_value(choice, named[choice.name])
    st.switch_page(page_file("explore"))


def draw_examples(key: str, listed: Iterable[tuple[str, str, T]], take: Callable[[T], None], label: str = "") -> Any:
    """Draw the list of examples, sent once it is opened: of each what it is called, what it shows, and what `take`, a
    callback, hears of a chosen one. Returns their menu.
    """
    look: dict[str, Any] = {"icon": ":material/lightbulb:", "type": "tertiary", "on_change": "rerun"}
    box = st.popover(label or _("Examples"), key=f"{key}s", **look)
    for number, (called, shows, example) in enumerate(listed if box.open else ()):
        box.button(
            escape_markdown(called),
            key=f"{key}-{number}",
            help=escape_markdown(shows),
            on_click=take,
            args=(example,),
            width="stretch",
            type="tertiary",
        )
    return box


def paired_columns(name: str) -> DeltaGenerator:
    """A place for controls beside each other, two in a row on a phone: one a line, they fill it before any picture.

    The style of every page knows it by its key.
    """
    return st.container(key=f"two-in-a-row-{name}", horizontal=True, vertical_alignment="bottom")


def main_picture() -> DeltaGenerator:
    """The place of a section's main picture. What it is made with is drawn after it, and so stands below it."""
    container = st.container(key="main-picture")
    container.empty()  # with something in it, it has its place before what is drawn into it is known
    return container


def draw_columns(
    *parts: Callable[[], object],
    widths: Sequence[float] | None = None,
    gap: Literal["small", "medium", "large"] = "medium",
) -> None:
    """Draw each part in a column of its own, as wide as its share of `widths`: all alike, unless told."""
    for column, draw in zip(st.columns(widths or len(parts), gap=gap), parts, strict=True):
        with column:
            draw()
