"""The lesson that is open: one of the eight or a lecturer's own; the way through its steps, and its file."""

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
    """The lesson of the link: one of the app's, or the lecturer's own where the link or a file brought one.

    Where it did not, the page says why and begins with the first; `quiet`: nothing is said, for a callback, which has
    no place of its own on the page.
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
    """Go on by so many steps from the one that is open by now. A callback.

    A press while the last one is still being drawn finds the buttons of the step before it: so they name no step.
    """
    lesson = current_lesson(quiet=True)
    steps = lesson_steps(lesson)
    here = steps.index((lesson.id, min(link_state.value(choices.STEP), len(lesson.steps))))
    there = min(max(here + by, 0), len(steps) - 1)
    if there != here:
        open_step(*steps[there])


def open_step(lesson: str, number: int) -> None:
    """Open a step; what the last one set is undone, and what its pictures kept is forgotten. A callback."""
    for key in [str(key) for key in st.session_state if str(key).startswith(PICTURE_KEY)]:
        del st.session_state[key]
    link_state.set_many(choices.UNDONE | {choices.LESSON: lesson, choices.STEP: number})
    st.session_state[MENU] = False


def lesson_sentence(lesson: Lesson) -> str:
    """The sentence that a lesson is shown with: the visitor's, the lesson's where none was typed."""
    typed = link_state.value(choices.SENTENCE)
    return lesson.sentence if lesson.sentence and typed == choices.EXAMPLE else typed


def draw_file_menu(displayed: Lesson) -> None:
    """Save the lesson on show as a text file to change, and open such a file."""
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
    """A lesson as the text of a file, with the sentence that it is to be shown with."""
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
    """What a step says, by the names of its lines in a file; what says nothing is not written."""
    question = step.question or Question("", "")
    after = step.after or LessonPicture("")
    way = "/" if step.page == own_lesson.HOME else step.page  # the start page is the app's address alone
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
        "link": f"{way}?{urlencode(step.page_choices)}" if step.page_choices else way,
    }


def _format_toml(value: Any) -> str:
    """A text, number, list of texts, or table of texts as TOML; nothing for an empty one."""
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{name} = {_format_toml(entry)}" for name, entry in value.items())
        return f"{{ {pairs} }}" if pairs else ""
    return "" if value in ("", []) else json.dumps(value, ensure_ascii=False)


def _guide_lines() -> list[str]:
    """What a lecturer reads at the top of the file: how to change it, line by line."""
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
