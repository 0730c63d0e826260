"""The page Glossary: a wall of the terms of attention, a picture and a sentence each, with the page that shows it."""

import re

import streamlit as st

from attnviz.app import glossary_terms, page_parts, show, widgets
from attnviz.app.panel import show_problems
from attnviz.app.text import escape_markdown
from attnviz.base.words import _
from attnviz.canvas import glossary_wall
from attnviz.live.scene_figure import SceneFigure
from attnviz.pages.glossary import choices
from attnviz.pages.glossary.page_entry import PAGE

OPENED = "w_opened"  #: the session's word that was pressed, until its page is open


def page() -> None:
    if (opened := glossary_terms.TERMS.get(st.session_state.pop(OPENED, ""))) is not None:
        glossary_terms.open_example(opened.page, opened.parameters)
    page_parts.draw_heading(PAGE)
    with show_problems():
        with st.container(horizontal=True, vertical_alignment="bottom"):
            query = widgets.text_box(choices.FIND, _("Find a word"), live=True, placeholder=_("for example: cache"))
            orders = {"learning": _("as one learns"), "alphabet": _("A to Z")}
            order = widgets.select_one(choices.ORDER, _("Order"), orders)
        with page_parts.main_picture():
            _draw_wall(query.strip(), order)


def _draw_wall(query: str, order: str) -> None:
    """Draw the words that are called so, or are spoken of so, in this order."""
    texts = {id: glossary_terms.explain_term(term) for id, term in glossary_terms.TERMS.items()}
    named = {id: _(term.name) for id, term in glossary_terms.TERMS.items()}
    found = [id for id, name in named.items() if query.casefold() in f"{name} {texts[id]}".casefold()]
    if order == "alphabet":  # that encoding has the common Chinese characters in the order of their sounds
        found.sort(key=lambda id: named[id].casefold().encode("gb18030"))
    if not found:
        st.info(_("None of the {n} terms mentions “{what}”.").format(n=len(named), what=escape_markdown(query)))
        return
    sentences = {id: [*re.split(r"(?<=\.)\s+|(?<=。)", texts[id], maxsplit=1), ""] for id in found}
    terms = [glossary_wall.WallTerm(id, named[id], *sentences[id][:2]) for id in found]
    wall = glossary_wall.WallFigure(terms, glossary_terms.numbers())
    glossary_wall.glossary_wall("glossary", wall, on_open=lambda id: st.session_state.update({OPENED: id}))
    show.footer(
        SceneFigure((wall,), _("The words of attention")),
        name="glossary",
        key="w_wall_save",
        canvas=show.live_canvas("glossary"),
        table={"word": [named[id] for id in found], "meaning": [texts[id] for id in found]},
    )


if __name__ == "__main__":  # Streamlit runs this file
    page()
