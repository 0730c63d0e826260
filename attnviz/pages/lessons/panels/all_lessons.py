"""All lessons, in the order in which one learns, as their files in texts/ have them in each language."""

from functools import cache
from pathlib import Path

from attnviz.base.words import ENGLISH, current_language
from attnviz.pages.lessons import choices
from attnviz.pages.lessons.maths.lesson_parts import Lesson
from attnviz.pages.lessons.panels import lesson_file

TEXTS = Path(__file__).parents[1] / "texts"


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
