"""docs/using/own_lessons.md: its example is a lesson that can be shown, and its tables are what the app takes."""

import re
from pathlib import Path

import pytest

from attnviz.base.message import Problem
from attnviz.pages.lessons import choices, lessons
from attnviz.pages.lessons.maths.lesson_parts import Subject
from attnviz.pages.lessons.panels import all_lessons, open_lesson, own_lesson
from attnviz.pages.lessons.panels.hand_pictures import PICTURES
from attnviz.serve import page_table  # noqa: F401

PAGE = (Path(__file__).parents[3] / "docs" / "using" / "own_lessons.md").read_text("utf-8")
[EXAMPLE] = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)


def named(text: str) -> list[str]:
    return re.findall(r"`\"?([\w.-]+)\"?`", text)


def rows_under(heading: str) -> dict[str, list[str]]:
    """First cell to all other names in a line of the tables under a heading."""
    part = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [re.split(r"(?<!\\)\|", line)[1:-1] for line in part.splitlines() if line.startswith("| `")]
    return {name: named(" ".join(rest)) for first, *rest in lines for name in named(first)}


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


def test_every_line_of_a_file_is_told():
    assert {"title", "sentence"} <= rows_under("Lines at the top").keys()
    assert set(own_lesson.KEYS) == rows_under("Lines of a step").keys()
    for limit in (choices.MOST_STEPS, choices.SENTENCE.longest, f"{own_lesson.LONGEST:,}", f"{choices.LARGEST_FILE:,}"):
        assert str(limit) in PAGE


@pytest.mark.parametrize("sentence", ["The cat sat on the mat.", "Time flies"])
def test_every_fact_is_told_with_its_numbers(sentence):
    told, about = rows_under("Numbers in braces"), Subject(sentence)
    assert list(told) == list(all_lessons.FACTS)
    for name, facts in all_lessons.FACTS.items():
        try:
            values = facts(about).values
        except Problem:
            assert name.startswith("model_facts."), "only these need the trained model"
            continue
        assert told[name] == list(values)


@pytest.mark.parametrize("name", PICTURES)
def test_every_picture_is_told_with_what_it_can_be_set_to(name):
    told = rows_under("Pictures")
    assert list(told) == list(PICTURES)
    for setting, values in PICTURES[name].allows.items():
        assert setting in told[name]
        assert {values[0], values[-1]} <= set(told[name])
        assert len(values) > 12 or set(values) <= set(told[name])
