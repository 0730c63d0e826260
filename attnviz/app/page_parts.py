"""How a page is put together: its sections, of which one is drawn, and what stands side by side in one."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import streamlit as st

from attnviz.app import presenting
from attnviz.app.guarding import guard
from attnviz.app.links.choices import Choice
from attnviz.app.page_entry import Page
from attnviz.app.page_heading import page_heading
from attnviz.base.words import _

SectionPanel = Callable[[], str | None]  #: a section of a page; some answer the program of their numbers


def sections(page: Page, choice: Choice[str], all_of_them: Mapping[str, tuple[str, SectionPanel]]) -> str | None:
    """Draw the heading, the choice of a section and the one that is chosen, each a title and a panel by its id.

    Answers what the panel does; None where it failed, of which the page then tells.
    """
    page_heading(page)
    titles = {name: title for name, (title, _panel) in all_of_them.items()}
    section = presenting.section_of(choice, titles, _("Section"))
    with guard():
        return all_of_them[section][1]()
    return None


def side_by_side(
    *parts: Callable[[], object],
    widths: Sequence[float] | None = None,
    gap: Literal["small", "medium", "large"] = "medium",
) -> None:
    """Draw each part in a column of its own, as wide as its share of `widths`: all alike, unless told."""
    for column, draw in zip(st.columns(widths or len(parts), gap=gap), parts, strict=True):
        with column:
            draw()
