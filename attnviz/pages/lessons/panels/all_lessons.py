"""The eight lessons, in the order in which one learns, and the names of their facts."""

from __future__ import annotations

from attnviz.pages.lessons import choices
from attnviz.pages.lessons.maths import (
    cache_facts,
    heads_facts,
    mask_facts,
    mixture_facts,
    model_facts,
    order_facts,
    row_facts,
    scaling_facts,
)
from attnviz.pages.lessons.maths.lesson_parts import FactsOf, Lesson, nothing

LESSONS: dict[str, Lesson] = {
    module.LESSON.id: module.LESSON
    for module in (
        mixture_facts,
        row_facts,
        scaling_facts,
        heads_facts,
        mask_facts,
        order_facts,
        cache_facts,
        model_facts,
    )
}


def name_of(facts: FactsOf) -> str:
    """The name under which a lecturer's file asks for facts: module and function, as in "row_facts.score"."""
    return f"{facts.__module__.rsplit('.', 1)[-1]}.{facts.__name__}"


#: all facts by that name, each lesson's in the order of the alphabet
FACTS: dict[str, FactsOf] = {
    name_of(step.facts): step.facts
    for lesson in LESSONS.values()
    for step in sorted(lesson.steps, key=lambda step: name_of(step.facts))
    if step.facts is not nothing
}


def before(lesson: Lesson, number: int) -> tuple[str, int] | None:
    """The lesson and the number of the step before this one; None before the first, and in a lecturer's lesson."""
    if number > 1:
        return lesson.id, number - 1
    if lesson.own or lesson.id == choices.IDS[0]:
        return None
    earlier = LESSONS[choices.IDS[choices.IDS.index(lesson.id) - 1]]
    return earlier.id, len(earlier.steps)


def after(lesson: Lesson, number: int) -> tuple[str, int] | None:
    """The lesson and the number of the step after this one; None after the last, and in a lecturer's lesson."""
    if number < len(lesson.steps):
        return lesson.id, number + 1
    if lesson.own or lesson.id == choices.IDS[-1]:
        return None
    return choices.IDS[choices.IDS.index(lesson.id) + 1], 1
