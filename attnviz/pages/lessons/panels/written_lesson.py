"""A lesson as the text of a file: its words, the names of its facts, and how a lecturer may change it."""

from __future__ import annotations

import importlib
import inspect
import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import get_type_hints
from urllib.parse import urlencode

from attnviz.base.words import _, listed
from attnviz.pages.lessons.maths.subject import Facts, FactsOf, nothing
from attnviz.pages.lessons.panels.hand_pictures import PICTURES
from attnviz.pages.lessons.panels.lesson_form import Lesson, LessonStep, Question

HOME = "home"
MODULES = ("mixture", "row", "scaling", "heads", "mask", "order", "cache", "model")


# The names under which a file asks for computed facts: module and function, as in "row_facts.score".
@cache
def facts_by_name() -> dict[str, FactsOf]:
    """Every function that answers Facts about a sentence."""
    found: dict[str, FactsOf] = {}
    for short in MODULES:
        module = importlib.import_module(f"attnviz.pages.lessons.maths.{short}_facts")
        for name, function in inspect.getmembers(module, inspect.isfunction):
            mine = function.__module__ == module.__name__ and not name.startswith("_")
            if mine and get_type_hints(function).get("return") is Facts:
                found[name_of(function)] = function
    return found


def name_of(function: FactsOf) -> str:
    """The name of a function of facts."""
    return f"{function.__module__.rsplit('.', 1)[-1]}.{function.__name__}"


def written(lesson: Lesson, sentence: str = "") -> str:
    """A lesson as the text of a file, with the sentence that it is to be shown with."""
    lines = [*(f"# {line}" for line in _guide()), "", f"title = {_quoted(lesson.title)}"]
    if sentence:
        lines.append(f"sentence = {_quoted(sentence)}")
    for step in lesson.steps:
        lines += ["", "[[step]]", *(f"{key} = {value}" for key, value in _pairs(step) if value)]
    return "\n".join(lines) + "\n"


def _pairs(step: LessonStep) -> Sequence[tuple[str, str]]:
    question = step.question
    return [
        ("title", _quoted(step.title)),
        ("idea", _quoted(step.idea)),
        ("facts", _quoted(name_of(step.facts)) if step.facts is not nothing else ""),
        ("picture", _quoted(step.picture.kind)),
        ("set", _table(step.picture.set_to)),
        ("do", _quoted(step.do)),
        *(_question_pairs(question) if question else ()),
        *([("after", _quoted(step.after.kind)), ("after_set", _table(step.after.set_to))] if step.after else []),
        ("say", _quoted(step.notes.say)),
        ("wrong", _quoted(step.notes.wrong)),
        ("minutes", str(step.notes.minutes)),
        ("terms", "[" + ", ".join(map(_quoted, step.terms)) + "]" if step.terms else ""),
        ("link", _quoted(_address(step))),
    ]


def _address(step: LessonStep) -> str:
    """The link of a step's page; the start page is the app's address alone."""
    if not step.page:
        return ""
    way = "/" if step.page == HOME else step.page
    return f"{way}?{urlencode(step.seen)}" if step.seen else way


def _question_pairs(question: Question) -> list[tuple[str, str]]:
    return [
        ("question", _quoted(question.asked)),
        ("answers", "[" + ", ".join(map(_quoted, question.answers.values())) + "]" if question.answers else ""),
        (
            "ids",
            "[" + ", ".join(map(_quoted, question.answers)) + "]" if question.answers and not question.right else "",
        ),
        ("right", str(list(question.answers).index(question.right) + 1) if question.right else ""),
        ("truth", _quoted(question.truth)),
    ]


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False) if text else ""


def _table(set_to: Mapping[str, str]) -> str:
    return "{ " + ", ".join(f"{name} = {_quoted(value)}" for name, value in set_to.items()) + " }" if set_to else ""


def _guide() -> list[str]:
    """What a lecturer reads at the top of the file: how to change it, line by line."""
    return [
        _("Change the words between quotation marks. A step begins with [[step]]: copy whole steps, or delete them."),
        _("Every step needs title, idea and picture; any other line can go."),
        _("picture: {pictures}; set: how it opens; do: what to try with it").format(pictures=listed(PICTURES)),
        _("facts: what computes the numbers that stand in braces; keep it as long as its words have braces"),
        _("question, answers: asked before truth is shown; right: the number of the right answer, counted from 1"),
        _("after, after_set: the picture once it is answered, where it is to be another"),
        _("say, wrong, minutes: teacher’s notes; terms: words that are explained below the step"),
        _("link: where the step goes on, as Share copies it"),
    ]
