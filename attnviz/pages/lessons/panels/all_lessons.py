"""The eight lessons, in the order in which one learns, and the way from one step to the next."""

from __future__ import annotations

import streamlit as st

from attnviz.app.links import link_state
from attnviz.pages.lessons import choices
from attnviz.pages.lessons.panels import (
    lesson_attention,
    lesson_cache,
    lesson_masks,
    lesson_model,
    lesson_order,
    lesson_row,
    lesson_scaling,
    lesson_several_heads,
)
from attnviz.pages.lessons.panels import own as own_panel
from attnviz.pages.lessons.panels.lesson_form import Lesson

PICTURE_KEY = "l-pic-"

LESSONS: dict[str, Lesson] = {
    module.LESSON.id: module.LESSON
    for module in (
        lesson_attention,
        lesson_row,
        lesson_scaling,
        lesson_several_heads,
        lesson_masks,
        lesson_order,
        lesson_cache,
        lesson_model,
    )
}


def chosen_lesson(*, quiet: bool = False) -> Lesson:
    """The lesson of the link: one of the app's, or the lecturer's own where the link or a file brought one."""
    asked = link_state.value(choices.LESSON)
    if asked == choices.OWN:
        own = own_panel.opened(quiet=quiet)
        if own is not None:
            return own
        asked = choices.IDS[0]
    return LESSONS[asked]


def before(lesson: Lesson, number: int) -> tuple[str, int] | None:
    if number > 1:
        return lesson.id, number - 1
    if lesson.own or lesson.id == choices.IDS[0]:
        return None
    earlier = LESSONS[choices.IDS[choices.IDS.index(lesson.id) - 1]]
    return earlier.id, len(earlier.steps)


def after(lesson: Lesson, number: int) -> tuple[str, int] | None:
    if number < len(lesson.steps):
        return lesson.id, number + 1
    if lesson.own or lesson.id == choices.IDS[-1]:
        return None
    return choices.IDS[choices.IDS.index(lesson.id) + 1], 1


def walk(by: int) -> None:
    """Go on by so many steps from the one that is open by now. A callback.

    A press while the last one is still being drawn finds the buttons of the step before it: so they name no step.
    """
    for _each in range(abs(by)):
        lesson = chosen_lesson(quiet=True)
        number = min(link_state.value(choices.STEP), len(lesson.steps))
        there = after(lesson, number) if by > 0 else before(lesson, number)
        if there is None:
            return
        open_step(*there)


def open_step(lesson: str, number: int) -> None:
    """Open a step, and forget what pictures of the last one kept. A callback."""
    for key in [str(key) for key in st.session_state if str(key).startswith(PICTURE_KEY)]:
        del st.session_state[key]
    choices.go_to(lesson, number)
