"""A lesson as a small text file in TOML: read with errors that name the line and what is allowed.

title = "My lesson"
sentence = "The cat sat on the mat."

[[step]]
title = "One row"
idea = "“{token}” shares a weight of {total:.0f} among {n} tokens."
facts = "mixture_facts.row_sum"
picture = "head"
set = { mask = "causal" }
do = "Click another row."
question = "Which one gets most?"
answers = ["the first", "the last"]
right = 2
truth = "The last one does."
say = "..."
wrong = "..."
minutes = 3
terms = ["weight"]
link = "build?b_step=softmax"
"""

import re
import string
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from attnviz.app import glossary_terms
from attnviz.app.links.choices import EVERY_PAGE, pages_with_choices
from attnviz.app.links.link_reading import parse_choices
from attnviz.base.message import Message, MessageList, Problem
from attnviz.base.words import N_
from attnviz.pages.lessons import choices
from attnviz.pages.lessons.maths.lesson_parts import (
    FactsFunction,
    Lesson,
    LessonPicture,
    LessonStep,
    Notes,
    Question,
    no_facts,
)
from attnviz.pages.lessons.panels.all_lessons import FACTS
from attnviz.pages.lessons.panels.hand_pictures import PICTURES

TEXTS = ("title", "idea", "facts", "picture", "do", "question", "truth", "say", "wrong", "link")
AT_THE_TOP = ("title", "sentence", "step")
KEYS = (*TEXTS, "set", "after", "after_set", "answers", "ids", "right", "minutes", "terms")
LONGEST = 2000
#: how a number may be written: width and precision of two digits at most, as "{total:999999}" is a megabyte
FORM = re.compile(r"[+ ]?\d{0,2},?(\.\d{1,2})?[a-z%]?")
HOME = "home"
ONE_OF = N_("“{value}” must be one of: {allowed}")
LIKE = N_("“{value}” must be {allowed}")  #: as code, which stays as it is in every language


def read(text: str) -> Lesson:
    """Parse the text of a lesson file; a Problem names the line and what is allowed there."""
    if len(text) > choices.LARGEST_FILE:
        raise Problem(
            "The file has {n} characters; a lesson has at most {most}.", n=len(text), most=choices.LARGEST_FILE
        )
    try:
        top = _Table(text, 0, tomllib.loads(text))
    except tomllib.TOMLDecodeError as wrong:
        raise Problem("This file is not TOML: {why}", why=str(wrong)) from None
    except (ValueError, RecursionError):  # as Python refuses numbers and brackets that are no lesson's
        raise Problem("This file is no lesson: it holds a number or brackets beyond reading.") from None
    unknown = next((key for key in top.lines if key not in AT_THE_TOP), None)
    if unknown is not None:
        raise top.make_problem(
            unknown,
            N_("“{value}” is not known here; allowed: {allowed}"),
            unknown,
            allowed=MessageList(("title", "sentence", "[[step]]")),
        )
    title, steps = top.lines.get("title", ""), top.lines.get("step", [])
    if not isinstance(title, str) or not title.strip():
        raise top.make_problem("title", N_("title = “{value}” must be a text in quotes"), title)
    are_tables = isinstance(steps, list) and all(isinstance(step, dict) for step in steps)
    if not are_tables or not 1 <= len(steps) <= choices.MOST_STEPS:
        raise Problem("A lesson has 1 to {most} steps, each under a line [[step]].", most=choices.MOST_STEPS)
    sentence, most = top.lines.get("sentence", ""), choices.SENTENCE.longest
    if not isinstance(sentence, str) or len(sentence) > most:
        raise top.make_problem(
            "sentence",
            N_("sentence = “{value}” must be a text in quotes, up to {most} characters"),
            sentence,
            most=most,
        )
    read_steps = tuple(_read_step(_Table(text, number, lines)) for number, lines in enumerate(steps, 1))
    return Lesson(choices.OWN_LESSON, title, read_steps, is_custom=True, sentence=sentence)


@dataclass(frozen=True)
class _Table:
    """The fields of a step as they were parsed; with number 0, those at the top of the file."""

    text: str
    number: int
    lines: Mapping[str, Any]

    def make_problem(self, key: str, template: str, /, value: object = "", named: str = "", **more: object) -> Problem:
        """Make a Problem about `key` that starts with its line. `value` follows `named`, cut to be readable.

        Python writes no number of more than 4,300 digits, and hexadecimal ones can be read.
        """
        try:
            excerpt = f"{named}{value}"[:60]
        except ValueError:
            excerpt = "…"
        message = Message(template, {"value": excerpt} | more)
        return Problem("Line {line}: {what}", line=line_number(self.text, self.number, key), what=message)


def _read_step(table: _Table) -> LessonStep:
    for key, value in table.lines.items():
        if key not in KEYS:
            raise table.make_problem(
                key, N_("“{value}” is not known in a step; allowed: {allowed}"), key, allowed=MessageList(KEYS)
            )
        if key in TEXTS and (not isinstance(value, str) or len(value) > LONGEST):
            raise table.make_problem(
                key, N_("“{value}” must be a text in quotes, up to {most} characters"), value, most=f"{LONGEST:,}"
            )
    for key in ("title", "idea", "picture"):
        if not table.lines.get(key, ""):
            raise table.make_problem("", N_("{key} is missing in step {number}"), key=key, number=table.number)
    for key in ("idea", "do", "question", "truth", "say", "wrong"):
        _check_fields(table, key, table.lines.get(key, ""))
    page, page_choices = _read_link(table)
    return LessonStep(
        table.lines["title"],
        table.lines["idea"],
        _read_picture(table, "picture", "set"),
        table.lines.get("do", ""),
        _read_facts(table),
        _read_question(table),
        _read_picture(table, "after", "after_set") if "after" in table.lines else None,
        Notes(table.lines.get("say", ""), table.lines.get("wrong", ""), _read_minutes(table)),
        _read_terms(table),
        page,
        page_choices,
    )


def _check_fields(table: _Table, key: str, template: str) -> None:
    """Check that fields are plain names, so that nothing is reached through them; raise a Problem."""
    try:
        fields = list(string.Formatter().parse(template))
    except ValueError as wrong:
        raise table.make_problem(
            key, N_("{value}; for braces write {opening} and {closing}"), wrong, opening="{{", closing="}}"
        ) from None
    for _text, name, spec, _how in fields:
        if name is not None and not (name.isidentifier() and FORM.fullmatch(spec or "")):
            field = f"{name}:{spec}" if spec else name
            raise table.make_problem(
                key, N_("“{value}” must be the name of a fact, such as {example}"), field, example="{share:.0%}"
            )


def _read_picture(table: _Table, key: str, with_key: str) -> LessonPicture:
    kind, settings = table.lines[key], table.lines.get(with_key, {})
    if not isinstance(kind, str) or kind not in PICTURES:
        raise table.make_problem(key, ONE_OF, kind, f"{key} = ", allowed=MessageList(PICTURES))
    allowed_settings = PICTURES[kind].allowed_settings
    if not isinstance(settings, dict):
        raise table.make_problem(with_key, LIKE, settings, allowed='{ name = "value" }')
    for name, value in settings.items():
        if name not in allowed_settings:
            template = (
                N_("“{value}” cannot be set on this picture; allowed: {allowed}")
                if allowed_settings
                else N_("“{value}” cannot be set on this picture; nothing can")
            )
            raise table.make_problem(with_key, template, name, allowed=MessageList(allowed_settings))
        if value not in allowed_settings[name]:
            raise table.make_problem(with_key, ONE_OF, value, f"{name} = ", allowed=MessageList(allowed_settings[name]))
    return LessonPicture(kind, settings)


def _read_facts(table: _Table) -> FactsFunction:
    name = table.lines.get("facts", "")
    if "facts" in table.lines and name not in FACTS:
        raise table.make_problem(
            "facts", N_("facts = “{value}” must be one of: {allowed}"), name, allowed=MessageList(FACTS)
        )
    return FACTS.get(name, no_facts)


def _read_question(table: _Table) -> Question | None:
    if "question" not in table.lines:
        return None
    prompt, truth = table.lines["question"], table.lines.get("truth", "")
    answers, ids, right = table.lines.get("answers", []), table.lines.get("ids", []), table.lines.get("right")
    if not isinstance(answers, list) or not all(isinstance(answer, str) and answer for answer in answers):
        raise table.make_problem("answers", LIKE, answers, allowed='["one answer", "another"]')
    if not answers and "facts" not in table.lines:
        raise table.make_problem("question", N_("“{value}” needs answers = [...] and right"), prompt)
    for answer in answers:
        _check_fields(table, "answers", answer)
    if ids:
        if (
            not isinstance(ids, list)
            or len(ids) != len(answers)
            or not all(isinstance(answer_id, str) for answer_id in ids)
        ):
            raise table.make_problem("ids", N_("ids = “{value}” must be one text for each answer"), ids)
        return Question(prompt, truth, dict(zip(ids, answers, strict=True)))
    if answers and not _is_integer(right, 1, len(answers)):
        raise table.make_problem(
            "right" if "right" in table.lines else "answers",
            N_("right = “{value}” must be the number of the right answer, 1 to {most}"),
            right,
            most=len(answers),
        )
    return Question(
        prompt, truth, {str(i): answer for i, answer in enumerate(answers, 1)}, str(right) if answers else ""
    )


def _read_minutes(table: _Table) -> int:
    minutes, low, high = table.lines.get("minutes", 3), 0, 120
    if not _is_integer(minutes, low, high):
        raise table.make_problem(
            "minutes",
            N_("“{value}” must be a whole number, {low} to {high}"),
            minutes,
            "minutes = ",
            low=low,
            high=high,
        )
    return int(minutes)


def _is_integer(value: object, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _read_terms(table: _Table) -> tuple[str, ...]:
    ids = table.lines.get("terms", [])
    unknown = [term for term in ids if term not in glossary_terms.TERMS] if isinstance(ids, list) else [ids]
    if unknown:
        raise table.make_problem(
            "terms",
            N_("terms: “{value}” must be among: {allowed}"),
            unknown[0],
            allowed=MessageList(glossary_terms.TERMS),
        )
    return tuple(ids)


def _read_link(table: _Table) -> tuple[str, Mapping[str, str]]:
    """Parse the link of a step into its page and that page's choices. A Problem says what is wrong."""
    link = table.lines.get("link", "")
    if not link:
        return "", {}
    parts = urlsplit(link)
    page = parts.path.rstrip("/").rpartition("/")[2] or HOME
    known = sorted(registered.page for registered in pages_with_choices() if registered.page != EVERY_PAGE)
    if page not in known:
        raise table.make_problem(
            "link", N_("link: “{value}” is no page; pages are: {allowed}"), page, allowed=MessageList(known)
        )
    page_choices = dict(parse_qsl(parts.query, keep_blank_values=True))
    try:
        parse_choices(page, page_choices)
    except Problem as wrong:
        raise table.make_problem("link", N_("link: {problem}"), problem=wrong.message) from None
    return page, page_choices


def line_number(text: str, step: int, key: str) -> int:
    """Line, from 1, of `key` in a step; the step's first line where it has no such key."""
    now, start = 0, 1
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"\s*\[\[\s*step\s*\]\]", line):
            now += 1
            start = number if now == step else start
        elif now == step and key and re.match(rf"\s*\"?{re.escape(key)}\"?\s*=", line):
            return number
    return start
