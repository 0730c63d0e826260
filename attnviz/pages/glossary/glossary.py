"""The page Glossary: a wall of the terms of attention, a picture and a sentence each, with the page that shows it."""

import re

import streamlit as st

from attnviz.app import glossary_terms, page_parts, show, widgets
from attnviz.app.links import link_state
from attnviz.app.panel import show_problems
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
    """Draw all words in this order: those that contain the query come first, the others are faded."""
    texts = {id: glossary_terms.explain_term(term) for id, term in glossary_terms.TERMS.items()}
    named = {id: _(term.name) for id, term in glossary_terms.TERMS.items()}
    found = {id for id, name in named.items() if query.casefold() in f"{name} {texts[id]}".casefold()}
    ids = list(named)
    if order == "alphabet":  # that encoding has the common Chinese characters in the order of their sounds
        ids.sort(key=lambda id: named[id].casefold().encode("gb18030"))
    ids.sort(key=lambda id: id not in found)
    places = {id: place for place, id in enumerate(named)}
    sentences = {id: [*re.split(r"(?<=\.)\s+|(?<=。)", texts[id], maxsplit=1), ""] for id in ids}
    terms = [glossary_wall.WallTerm(id, named[id], sentences[id][0], sentences[id][1], places[id]) for id in ids]
    asked, guess = (link_state.value(choice) for choice in (choices.ASKED, choices.GUESS))
    asked = asked if asked in named else ""
    # answers are offered among the words of one group of AMONG, in the order of learning
    is_answer = (
        asked and guess in named and places[guess] // glossary_wall.AMONG == places[asked] // glossary_wall.AMONG
    )
    guess = guess if is_answer else ""
    wall = glossary_wall.WallFigure(terms, glossary_terms.numbers(), len(found), asked, guess)
    glossary_wall.glossary_wall("glossary", wall, _sentence(query, order, len(found), len(ids)), _store)
    show.footer(
        SceneFigure((wall,), _("The words of attention")),
        name="glossary",
        key="w_wall_save",
        canvas=show.live_canvas("glossary"),
        table={"word": [named[id] for id in ids], "meaning": [texts[id] for id in ids]},
    )


def _sentence(query: str, order: str, found: int, n: int) -> str:
    """What stands on the wall."""
    if query and found:
        return _("Words that mention “{what}” stand first: {found} of {n}.").format(what=query, found=found, n=n)
    if query:
        return _("None of the {n} terms mentions “{what}”.").format(n=n, what=query)
    if order == "alphabet":
        return _("{n} words from A to Z, each with the smallest true picture of it. Point at one.").format(n=n)
    return _("{n} words as one learns them, each with the smallest true picture of it. Point at one.").format(n=n)


def _store(report: glossary_wall.WallReport) -> None:
    """Keep what was done on the wall: a word that opens, or a question and its guess."""
    if report.term:
        st.session_state[OPENED] = report.term
    else:
        link_state.set_many({choices.ASKED: report.asked, choices.GUESS: report.guess})


if __name__ == "__main__":  # Streamlit runs this file
    page()
