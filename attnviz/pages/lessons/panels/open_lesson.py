"""All lessons, and the open one, the app's or a lecturer's own: walking through its steps, and its file."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from attnviz.app.links import link_state
from attnviz.app.links.choices import Choice
from attnviz.app.panel import show_problem
from attnviz.app.workarounds.streamlit_adapter import upload_id
from attnviz.base.message import Problem
from attnviz.base.words import ENGLISH, _, current_language
from attnviz.pages.lessons import choices
from attnviz.pages.lessons.maths.lesson_parts import Lesson
from attnviz.pages.lessons.panels import lesson_file

TEXTS = Path(__file__).parents[1] / "texts"
PICTURE_KEY = "l-pic-"
MENU = "l-lessons"  #: the menu of all lessons, which closes when a step is chosen
_OPENED = "_lesson_opened"


def current_lesson(*, quiet: bool = False) -> Lesson:
    """The lesson of the link; the first one, with an explanation, if the link's own lesson cannot be read.

    `quiet`: draw no explanation, for a callback, which has no place on the page.
    """
    lesson_id = link_state.value(choices.LESSON)
    if lesson_id != choices.OWN_LESSON:
        return current_lessons()[lesson_id]
    text = link_state.value(choices.OWN_TEXT)
    try:
        if text:
            return lesson_file.read(text)
        problem = Problem(
            "This link asks for a lecturer’s own lesson, but brings none: open its file below the lesson’s name."
        )
    except Problem as refused:
        problem = refused
    if not quiet:
        show_problem(problem)
    return current_lessons()[choices.IDS[0]]


def walk(by: int) -> None:
    """Move `by` steps from the open one. A callback.

    It names no step: a press while the page is still being drawn comes from the previous step's buttons.
    """
    lesson = current_lesson(quiet=True)
    steps = lesson_steps(lesson)
    here = steps.index((lesson.id, min(link_state.value(choices.STEP), len(lesson.steps))))
    there = min(max(here + by, 0), len(steps) - 1)
    if there != here:
        open_step(*steps[there])


def open_step(lesson: str, number: int) -> None:
    """Open a step; reset what the last one set, and the state of its pictures. A callback."""
    for key in [str(key) for key in st.session_state if str(key).startswith(PICTURE_KEY)]:
        del st.session_state[key]
    link_state.set_many(choices.UNDONE | {choices.LESSON: lesson, choices.STEP: number})
    st.session_state[MENU] = False


def lesson_sentence(lesson: Lesson) -> str:
    """The sentence of a lesson: the visitor's, or the lesson's if none was typed."""
    typed = link_state.value(choices.SENTENCE)
    return lesson.sentence if lesson.sentence and typed == choices.EXAMPLE else typed


def draw_file_menu(displayed: Lesson) -> None:
    """Draw the menu to save the displayed lesson as a text file, and to open one."""
    st.caption(_("Your own lesson is a small text file: save this one, change it, open it again, hand it on."))
    st.download_button(
        _("Save this lesson as a file"),
        data=lesson_as_text(displayed, lesson_sentence(displayed)),
        file_name=f"lesson-{displayed.id}.md",
        mime="text/plain",
        on_click="ignore",
        key="l-save",
    )
    answer = st.container()  # above the box, where it is seen: the menu ends below it
    uploaded = st.file_uploader(_("Open a lesson"), type=["md", "txt", "toml"], key="l-file")
    if uploaded is None or st.session_state.get(_OPENED) == upload_id(uploaded):
        return
    text = uploaded.getvalue().decode("utf-8", "replace")
    try:
        lesson = lesson_file.read(text)
    except Problem as problem:
        with answer:
            show_problem(problem)
        return
    st.session_state[_OPENED] = upload_id(uploaded)
    sentence_choice = {choices.SENTENCE: lesson.sentence} if lesson.sentence else {}
    opened: dict[Choice[Any], Any] = {choices.OWN_TEXT: text, choices.LESSON: choices.OWN_LESSON, choices.STEP: 1}
    link_state.set_many(choices.UNDONE | opened | sentence_choice)
    st.rerun()


def lesson_as_text(lesson: Lesson, sentence: str) -> str:
    """The text of a lesson's file, with the sentence that it starts with."""
    if lesson.is_custom:
        return lesson.source
    others = re.sub(r"^- sentence: .*\n", "", lesson.source, flags=re.MULTILINE)
    return others.replace("\n\n", f"\n\n- sentence: {sentence}\n", 1)


@cache
def lessons_in(language: str) -> dict[str, Lesson]:
    """The lessons by their ids; in English where a language has no file of one."""
    files = {name: TEXTS / f"{name}.{language}.md" for name in choices.IDS}
    return {
        name: lesson_file.read(file.read_text("utf-8"), name) if file.exists() else lessons_in(ENGLISH)[name]
        for name, file in files.items()
    }


LESSONS = lessons_in(ENGLISH)  #: their steps are the same in all languages


def current_lessons() -> dict[str, Lesson]:
    """The lessons in the visitor's language."""
    return lessons_in(current_language())


def lesson_steps(lesson: Lesson) -> list[tuple[str, int]]:
    """List (lesson id, step number) of all steps; for a lecturer's lesson, of that lesson alone."""
    lessons = [lesson] if lesson.is_custom else LESSONS.values()
    return [(listed.id, number) for listed in lessons for number in range(1, len(listed.steps) + 1)]
