"""Pictures of a small model's training: one run with its handle, and several runs beside each other."""

import streamlit as st

from attnviz.app import show
from attnviz.app.links import link_state
from attnviz.pages.born import figures
from attnviz.pages.born.maths import life
from attnviz.pages.born.maths.repeats import Silenced
from attnviz.pages.born.panels import film, others
from attnviz.pages.lessons import choices
from attnviz.pages.lessons.maths import born_facts
from attnviz.pages.lessons.maths.lesson_parts import PictureSettings, Subject

HEIGHT = 360  #: of the curves: beside the words of a lesson they leave room for what one knows at its end


def birth(subject: Subject, set_to: PictureSettings, key: str) -> None:
    """The run at a step, with what a visitor silenced: as bits, beside the place where the handle stands.

    Beside both stands how many settings the picture has: once a question is answered it has others, and begins anew.
    """
    run = life.read(life.LIFE)
    heads = run.config.places
    bits, at, of = link_state.value(choices.CELL)
    off = tuple(head for i, head in enumerate(heads) if bits >> i & 1)
    if at < 0 or of != len(set_to):  # nothing was moved yet, or it was before the question was answered
        at = run.nearest(int(set_to.get("step", "0")))
        off = tuple(head for head in heads if film.name_of(head) == set_to.get("off"))

    def keep(place: int, silenced: Silenced) -> None:
        link_state.put(choices.CELL, (sum(1 << heads.index(head) for head in silenced), place, len(set_to)))

    film.draw(key, life.LIFE, born_facts.copies(subject), min(at, len(run.kept) - 1), off, "whole" in set_to, keep)


def runs(_subject: Subject, set_to: PictureSettings, key: str) -> None:
    """The usual run and other seeds, with one in which something else was changed."""
    changed = set_to.get("changed", "seeds")
    show.chart(figures.compared(others.lines_of(changed), HEIGHT), key=key, words=others.said(changed))
    st.caption(others.said(changed))
