"""All lessons, in the order in which one learns, and the names of their facts."""

from attnviz.pages.lessons.maths import (
    born_facts,
    cache_facts,
    fast_facts,
    heads_facts,
    mask_facts,
    mixture_facts,
    model_facts,
    order_facts,
    pair_facts,
    row_facts,
    scaling_facts,
)
from attnviz.pages.lessons.maths.lesson_parts import FactsFunction, Lesson, no_facts

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
        fast_facts,
        model_facts,
        born_facts,
        pair_facts,
    )
}


def facts_name(facts: FactsFunction) -> str:
    """Name of a facts function in a lecturer's file: module and function, as in "row_facts.score"."""
    return f"{facts.__module__.rsplit('.', 1)[-1]}.{facts.__name__}"


#: all facts by that name, each lesson's in the order of the alphabet
FACTS: dict[str, FactsFunction] = {
    facts_name(step.facts): step.facts
    for lesson in LESSONS.values()
    for step in sorted(lesson.steps, key=lambda step: facts_name(step.facts))
    if step.facts is not no_facts
}


def lesson_steps(lesson: Lesson) -> list[tuple[str, int]]:
    """List (lesson id, step number) of all steps; for a lecturer's lesson, of that lesson alone."""
    lessons = [lesson] if lesson.is_custom else LESSONS.values()
    return [(listed.id, number) for listed in lessons for number in range(1, len(listed.steps) + 1)]
