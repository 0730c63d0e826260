"""The open lesson, one of the app's or a lecturer's own: walking through its steps, and its file."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from attnviz.app.links import link_state
from attnviz.app.links.choices import Choice
from attnviz.app.panel import show_problem
from attnviz.app.workarounds.streamlit_adapter import upload_id
from attnviz.base.message import Problem
from attnviz.base.words import _, join_list
from attnviz.pages.lessons import choices
from attnviz.pages.lessons.maths.lesson_parts import Lesson, LessonPicture, LessonStep, Question, no_facts
from attnviz.pages.lessons.panels import own_lesson
from attnviz.pages.lessons.panels.all_lessons import LESSONS, facts_name, lesson_steps
from attnviz.pages.lessons.panels.hand_pictures import PICTURES

PICTURE_KEY = "l-pic-"
MENU = "l-lessons"  #: the menu of all lessons, which closes when a step is chosen
_OPENED = "_lesson_opened"


def current_lesson(*, quiet: bool = False) -> Lesson:
    """The lesson of the link; the first one, with an explanation, if the link's own lesson cannot be read.

    `quiet`: draw no explanation, for a callback, which has no place on the page.
    """
    lesson_id = link_state.value(choices.LESSON)
    if lesson_id != choices.OWN_LESSON:
        return LESSONS[lesson_id]
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
    return LESSONS[choices.IDS[0]]


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
        data=link_state.value(choices.OWN_TEXT)
        if displayed.is_custom
        else lesson_as_text(displayed, lesson_sentence(displayed)),
        file_name=f"lesson-{displayed.id}.toml",
        mime="text/plain",
        on_click="ignore",
        key="l-save",
    )
    answer = st.container()  # above the box, where it is seen: the menu ends below it
    uploaded = st.file_uploader(_("Open a lesson"), type=["toml", "txt"], key="l-file")
    if uploaded is None or st.session_state.get(_OPENED) == upload_id(uploaded):
        return
    text = uploaded.getvalue().decode("utf-8", "replace")
    try:
        lesson = own_lesson.read(text)
    except Problem as problem:
        with answer:
            show_problem(problem)
        return
    st.session_state[_OPENED] = upload_id(uploaded)
    sentence_choice = {choices.SENTENCE: lesson.sentence} if lesson.sentence else {}
    opened: dict[Choice[Any], Any] = {choices.OWN_TEXT: text, choices.LESSON: choices.OWN_LESSON, choices.STEP: 1}
    link_state.set_many(choices.UNDONE | opened | sentence_choice)
    st.rerun()


def lesson_as_text(lesson: Lesson, sentence: str = "") -> str:
    """Write a lesson as the text of a file, with the sentence that it starts with."""
    lines = [*(f"# {line}" for line in _guide_lines()), "", f"title = {_format_toml(lesson.title)}"]
    if sentence:
        lines.append(f"sentence = {_format_toml(sentence)}")
    for step in lesson.steps:
        lines += [
            "",
            "[[step]]",
            *(f"{key} = {_format_toml(value)}" for key, value in _step_fields(step).items() if _format_toml(value)),
        ]
    return "\n".join(lines) + "\n"


def _step_fields(step: LessonStep) -> dict[str, Any]:
    """Fields of a step under their names in a file; empty ones are not written."""
    question = step.question or Question("", "")
    after = step.after or LessonPicture("")
    page = "/" if step.page == own_lesson.HOME else step.page  # the start page is the app's address alone
    return {
        "title": step.title,
        "idea": step.idea,
        "facts": facts_name(step.facts) if step.facts is not no_facts else "",
        "picture": step.picture.kind,
        "set": step.picture.settings,
        "do": step.do,
        "question": question.prompt,
        "answers": list(question.answers.values()),
        "ids": [] if question.right else list(question.answers),
        "right": list(question.answers).index(question.right) + 1 if question.right else "",
        "truth": question.truth,
        "after": after.kind,
        "after_set": after.settings,
        "say": step.notes.say,
        "wrong": step.notes.wrong,
        "minutes": step.notes.minutes,
        "terms": list(step.terms),
        "link": f"{page}?{urlencode(step.page_choices)}" if step.page_choices else page,
    }


def _format_toml(value: Any) -> str:
    """Format a text, number, list of texts, or table of texts as TOML; nothing for an empty one."""
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{name} = {_format_toml(entry)}" for name, entry in value.items())
        return f"{{ {pairs} }}" if pairs else ""
    return "" if value in ("", []) else json.dumps(value, ensure_ascii=False)


def _guide_lines() -> list[str]:
    """Lines of help at the top of the file, for the lecturer who changes it."""
    return [
        _("Change the words between quotation marks. A step begins with [[step]]: copy whole steps, or delete them."),
        _("Every step needs title, idea and picture; any other line can go."),
        _("picture: {pictures}; set: how it opens; do: what to try with it").format(pictures=join_list(PICTURES)),
        _("facts: what computes the numbers that stand in braces; keep it as long as its words have braces"),
        _("question, answers: asked before truth is shown; right: the number of the right answer, counted from 1"),
        _("after, after_set: the picture once it is answered, where it is to be another"),
        _("say, wrong, minutes: teacher’s notes; terms: words that are explained below the step"),
        _("link: where the step goes on, as Share copies it"),
    ]
