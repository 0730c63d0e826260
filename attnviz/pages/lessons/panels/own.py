"""A lecturer's own lesson: opened from a file, kept in the link as far as one holds it, saved as a file."""

from __future__ import annotations

from typing import Any

import streamlit as st

from attnviz.app.guarding import show_problem
from attnviz.app.links import link_state
from attnviz.app.links.choices import Choice
from attnviz.app.mends.streamlit_adapter import upload_id
from attnviz.base.message import Problem
from attnviz.base.words import _
from attnviz.pages.lessons import choices
from attnviz.pages.lessons.panels import own_lesson
from attnviz.pages.lessons.panels.lesson_form import Lesson
from attnviz.pages.lessons.panels.written_lesson import written

_OPENED = "_lesson_opened"


def opened(*, quiet: bool = False) -> Lesson | None:
    """The lecturer's lesson that the link or a file brought; None where there is none, and the page says why.

    `quiet`: nothing is said, for a callback, which has no place of its own on the page.
    """
    text = link_state.value(choices.OWN_TEXT)
    try:
        if text:
            return own_lesson.read(text)
        problem = Problem(
            "This link asks for a lecturer’s own lesson, but brings none: open its file below the lesson’s name."
        )
    except Problem as refused:
        problem = refused
    if not quiet:
        show_problem(problem)
    return None


def files(shown: Lesson) -> None:
    """Save the lesson on show as a text file to change, and open such a file."""
    st.caption(_("Your own lesson is a small text file: save this one, change it, open it again, hand it on."))
    text = link_state.value(choices.OWN_TEXT) if shown.own else written(shown, link_state.value(choices.SENTENCE))
    st.download_button(
        _("Save this lesson as a file"),
        data=text,
        file_name=f"lesson-{shown.id}.toml",
        mime="text/plain",
        on_click="ignore",
        key="l-save",
    )
    said = st.container()  # above the box, where it is seen: the menu ends below it
    uploaded = st.file_uploader(_("Open a lesson"), type=["toml", "txt"], key="l-file")
    if uploaded is None or st.session_state.get(_OPENED) == upload_id(uploaded):
        return
    text = uploaded.getvalue().decode("utf-8", "replace")
    try:
        lesson = own_lesson.read(text)
    except Problem as problem:
        with said:
            show_problem(problem)
        return
    st.session_state[_OPENED] = upload_id(uploaded)
    changes: dict[Choice[Any], Any] = {choice: choice.default for choice in choices.OF_A_STEP}
    if lesson.sentence:
        changes[choices.SENTENCE] = lesson.sentence
    link_state.put_all(changes | {choices.OWN_TEXT: text, choices.LESSON: choices.OWN, choices.STEP: 1})
    st.rerun()
