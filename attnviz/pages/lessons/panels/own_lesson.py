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

from __future__ import annotations

import re
import string
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from attnviz.app import glossary_terms
from attnviz.app.links.choices import EVERY_PAGE, pages
from attnviz.app.links.link_reading import chosen_by
from attnviz.base.message import Message, Problem, Several
from attnviz.pages.lessons import choices
from attnviz.pages.lessons.maths.lesson_parts import (
    FactsOf,
    Lesson,
    LessonPicture,
    LessonStep,
    Notes,
    Question,
    nothing,
)
from attnviz.pages.lessons.panels.all_lessons import FACTS
from attnviz.pages.lessons.panels.hand_pictures import PICTURES

TEXTS = ("title", "idea", "facts", "picture", "do", "question", "truth", "say", "wrong", "link")
AT_THE_TOP = ("title", "sentence", "step")
KEYS = (*TEXTS, "set", "after", "after_set", "answers", "ids", "right", "minutes", "terms")
LONGEST = 2000
HOME = "home"


def read(text: str) -> Lesson:
    """The lesson in a file; a Problem names the line and what is allowed there."""
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
        allowed = Several(("title", "sentence", "[[step]]"))
        raise top.wrong(unknown, Message("“{value}” is not known here; allowed: {allowed}", _of(unknown, allowed)))
    title, steps = top.get("title", ""), top.get("step", None)
    if not isinstance(title, str) or not title.strip():
        raise top.wrong("title", Message("title = “{value}” must be a text in quotes", _of(title)))
    tables = isinstance(steps, list) and all(isinstance(step, dict) for step in steps)
    if not tables or not 1 <= len(steps) <= choices.MOST_STEPS:
        raise Problem("A lesson has 1 to {most} steps, each under a line [[step]].", most=choices.MOST_STEPS)
    sentence, most = top.get("sentence", ""), choices.SENTENCE.longest
    if not isinstance(sentence, str) or len(sentence) > most:
        raise top.wrong(
            "sentence",
            Message("sentence = “{value}” must be a text in quotes, up to {most} characters", _of(sentence, most=most)),
        )
    read_steps = tuple(_step(_Table(text, number, lines)) for number, lines in enumerate(steps, 1))
    return Lesson(choices.OWN, title, read_steps, own=True, sentence=sentence)


@dataclass(frozen=True)
class _Table:
    """The lines of a step as they were read, or with the number 0 those at the top of the file."""

    text: str
    number: int
    lines: Mapping[str, Any]

    def get(self, key: str, usual: Any) -> Any:
        return self.lines.get(key, usual)

    def wrong(self, key: str, message: Message) -> Problem:
        """The Problem with the line of `key` in front."""
        return Problem("Line {line}: {what}", line=line_of(self.text, self.number, key), what=message)


def _step(table: _Table) -> LessonStep:
    for key, value in table.lines.items():
        if key not in KEYS:
            known = Several(KEYS)
            raise table.wrong(key, Message("“{value}” is not known in a step; allowed: {allowed}", _of(key, known)))
        if key in TEXTS and (not isinstance(value, str) or len(value) > LONGEST):
            facts = _of(value, most=f"{LONGEST:,}")
            raise table.wrong(key, Message("“{value}” must be a text in quotes, up to {most} characters", facts))
    for key in ("title", "idea", "picture"):
        if not table.get(key, ""):
            missing = Message("{key} is missing in step {number}", {"key": key, "number": table.number})
            raise table.wrong("", missing)
    for key in ("idea", "do", "question", "truth", "say", "wrong"):
        _check_fields(table, key, table.get(key, ""))
    page, seen = _link(table)
    return LessonStep(
        table.lines["title"],
        table.lines["idea"],
        _picture(table, "picture", "set"),
        table.get("do", ""),
        _facts(table),
        _question(table),
        _picture(table, "after", "after_set") if "after" in table.lines else None,
        Notes(table.get("say", ""), table.get("wrong", ""), _minutes(table)),
        _terms(table),
        page,
        seen,
    )


def _check_fields(table: _Table, key: str, template: str) -> None:
    """Fields are plain names: nothing may be reached through them."""
    try:
        fields = [(name, spec) for _text, name, spec, _how in string.Formatter().parse(template) if name is not None]
    except ValueError as wrong:
        how = _of(wrong, opening="{{", closing="}}")
        raise table.wrong(key, Message("{value}; for braces write {opening} and {closing}", how)) from None
    for name, spec in fields:
        if not name.isidentifier() or not re.fullmatch(r"[,.0-9a-z%]{0,6}", spec or ""):
            facts = _of(name, example="{share:.0%}")
            raise table.wrong(key, Message("“{value}” must be the name of a fact, such as {example}", facts))


def _picture(table: _Table, key: str, with_key: str) -> LessonPicture:
    kind, set_to = table.lines[key], table.get(with_key, {})
    if not isinstance(kind, str) or kind not in PICTURES:
        raise table.wrong(key, _one_of(f"{key} = {kind}", PICTURES))
    allows = PICTURES[kind].allows
    if not isinstance(set_to, dict):
        raise table.wrong(with_key, _like(set_to, '{ name = "value" }'))
    for name, value in set_to.items():
        if not allows:
            raise table.wrong(with_key, Message("“{value}” cannot be set on this picture; nothing can", _of(name)))
        if name not in allows:
            facts = _of(name, Several(allows))
            raise table.wrong(with_key, Message("“{value}” cannot be set on this picture; allowed: {allowed}", facts))
        if value not in allows[name]:
            raise table.wrong(with_key, _one_of(f"{name} = {value}", allows[name]))
    return LessonPicture(kind, set_to)


def _facts(table: _Table) -> FactsOf:
    name = table.get("facts", None)
    if name is None:
        return nothing
    if name not in FACTS:
        message = Message("facts = “{value}” must be one of: {allowed}", _of(name, Several(FACTS)))
        raise table.wrong("facts", message)
    return FACTS[name]


def _question(table: _Table) -> Question | None:
    if "question" not in table.lines:
        return None
    asked, truth = table.lines["question"], table.get("truth", "")
    answers, ids, right = table.get("answers", []), table.get("ids", []), table.get("right", None)
    if not isinstance(answers, list) or not all(isinstance(each, str) and each for each in answers):
        raise table.wrong("answers", _like(answers, '["one answer", "another"]'))
    if not answers and "facts" not in table.lines:
        raise table.wrong("question", Message("“{value}” needs answers = [...] and right", _of(asked)))
    for each in answers:
        _check_fields(table, "answers", each)
    if ids:
        if not isinstance(ids, list) or len(ids) != len(answers) or not all(isinstance(each, str) for each in ids):
            raise table.wrong("ids", Message("ids = “{value}” must be one text for each answer", _of(ids)))
        return Question(asked, truth, dict(zip(ids, answers, strict=True)))
    if answers and not _is_whole(right, 1, len(answers)):
        facts = _of(right, most=len(answers))
        raise table.wrong(
            "right" if "right" in table.lines else "answers",
            Message("right = “{value}” must be the number of the right answer, 1 to {most}", facts),
        )
    numbered = {str(i): each for i, each in enumerate(answers, 1)}
    return Question(asked, truth, numbered, str(right) if answers else "")


def _minutes(table: _Table) -> int:
    minutes, low, high = table.get("minutes", 3), 0, 120
    if not _is_whole(minutes, low, high):
        facts = _of(f"minutes = {minutes}", low=low, high=high)
        raise table.wrong("minutes", Message("“{value}” must be a whole number, {low} to {high}", facts))
    return int(minutes)


def _is_whole(value: object, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _terms(table: _Table) -> tuple[str, ...]:
    ids = table.get("terms", [])
    lost = [each for each in ids if each not in glossary_terms.TERMS] if isinstance(ids, list) else [ids]
    if lost:
        facts = _of(lost[0], Several(glossary_terms.TERMS))
        raise table.wrong("terms", Message("terms: “{value}” must be among: {allowed}", facts))
    return tuple(ids)


def _link(table: _Table) -> tuple[str, Mapping[str, str]]:
    """The page where a step goes on and what it is set to, from a link as the app itself makes them."""
    link = table.get("link", "")
    if not link:
        return "", {}
    parts = urlsplit(link)
    page = parts.path.rstrip("/").rpartition("/")[2] or HOME
    known = sorted(each.page for each in pages() if each.page != EVERY_PAGE)
    if page not in known:
        facts = _of(page, Several(known))
        raise table.wrong("link", Message("link: “{value}” is no page; pages are: {allowed}", facts))
    seen = dict(parse_qsl(parts.query, keep_blank_values=True))
    try:
        chosen_by(page, seen)
    except Problem as wrong:
        raise table.wrong("link", Message("link: {problem}", {"problem": wrong.message})) from None
    return page, seen


def _of(value: object, allowed: object = None, **more: object) -> dict[str, object]:
    """What stands in the file, cut to a readable length, what may stand there, and what else a sentence names.

    Python writes no number of more than 4,300 digits, and hexadecimal ones can be read.
    """
    try:
        shown = str(value)[:60]
    except ValueError:
        shown = "…"
    return {"value": shown} | ({} if allowed is None else {"allowed": allowed}) | more


def _one_of(value: str, allowed: Collection[str]) -> Message:
    return Message("“{value}” must be one of: {allowed}", _of(value, Several(allowed)))


def _like(value: object, written: str) -> Message:
    """`written` is code: it stays as it is in every language."""
    return Message("“{value}” must be {allowed}", _of(value, allowed=written))


def line_of(text: str, step: int, key: str) -> int:
    """The line, from 1, on which `key` of a step stands; the step's first line where it does not."""
    now, start = 0, 1
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"\s*\[\[\s*step\s*\]\]", line):
            now += 1
            start = number if now == step else start
        elif now == step and key and re.match(rf"\s*\"?{re.escape(key)}\"?\s*=", line):
            return number
    return start
