"""docs/using/own_lessons.md: its example is a lesson that can be shown, and its tables are what the app takes."""

import re
from pathlib import Path

from attnviz.pages.lessons import lessons
from attnviz.pages.lessons.maths.lesson_parts import Subject
from attnviz.pages.lessons.panels import open_lesson, own_lesson
from attnviz.serve import page_table  # noqa: F401

PAGE = (Path(__file__).parents[3] / "docs" / "using" / "own_lessons.md").read_text("utf-8")
[EXAMPLE] = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)


def test_the_example_is_read_as_the_app_reads_it_and_every_sentence_can_be_said():
    lesson = own_lesson.read(EXAMPLE)
    assert own_lesson.read(open_lesson.written(lesson, lesson.sentence)) == lesson
    about = Subject(lesson.sentence)
    assert len(lesson.steps) == 3
    for step in lesson.steps:
        facts = step.facts(about)
        question = step.question
        asked = () if question is None else (question.asked, question.truth, *question.answers.values())
        for template in (step.idea, step.do, step.notes.say, step.notes.wrong, *asked):
            assert "{" not in lessons.filled(lesson, template, facts)
        if question is not None and not question.answers:
            assert facts.answers
