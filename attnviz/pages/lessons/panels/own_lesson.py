"""A lesson as a small text file in TOML: read with errors that name the line and what is allowed, and written.

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
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from attnviz.app import glossary_terms
from attnviz.app.links.choices import EVERY_PAGE, pages
from attnviz.app.links.link_reading import chosen_by
from attnviz.base.message import Message, Problem, Several
from attnviz.pages.lessons import choices
from attnviz.pages.lessons.maths.subject import FactsOf, nothing
from attnviz.pages.lessons.panels.hand_pictures import PICTURES
from attnviz.pages.lessons.panels.lesson_form import Lesson, LessonPicture, LessonStep, Notes, Question
from attnviz.pages.lessons.panels.written_lesson import HOME, facts_by_name

TEXTS = ("title", "idea", "facts", "picture", "do", "question", "truth", "say", "wrong", "link")
OF_ALL = ("title", "sentence", "step")
KEYS = (*TEXTS, "set", "after", "after_set", "answers", "ids", "right", "minutes", "terms")
LONGEST = 2000


def read(text: str) -> Lesson:
    """The lesson in a file; a Problem names the line and what is allowed there."""
    if len(text) > choices.LARGEST_FILE:
        raise Problem(
            "The file has {n} characters; a lesson has at most {most}.", n=len(text), most=choices.LARGEST_FILE
        )
    try:
        made = tomllib.loads(text)
    except tomllib.TOMLDecodeError as wrong:
        raise Problem("This file is not TOML: {why}", why=str(wrong)) from None
    except (ValueError, RecursionError):  # as Python refuses numbers and brackets that are no lesson's
        raise Problem("This file is no lesson: it holds a number or brackets beyond reading.") from None
    unknown = [key for key in made if key not in OF_ALL]
    if unknown:
        at_first = Several(("title", "sentence", "[[step]]"))
        said = Message("“{value}” is not known here; allowed: {allowed}", _of(unknown[0], at_first))
        raise _at(text, 0, unknown[0], said)
    steps = made.get("step")
    if not isinstance(made.get("title"), str) or not made["title"].strip():
        said = Message("title = “{value}” must be a text in quotes", _of(made.get("title", "")))
        raise _at(text, 0, "title", said)
    if not isinstance(steps, list) or not 1 <= len(steps) <= choices.MOST_STEPS or not all(map(_is_table, steps)):
        raise Problem("A lesson has 1 to {most} steps, each under a line [[step]].", most=choices.MOST_STEPS)
    sentence = _sentence(text, made)
    read_steps = tuple(_step(text, i, raw) for i, raw in enumerate(steps, 1))
    return Lesson(choices.OWN, made["title"], read_steps, own=True, sentence=sentence)


def _sentence(text: str, made: Mapping[str, Any]) -> str:
    """What the lesson is shown with; "" where the file leaves it to the visitor."""
    sentence = made.get("sentence", "")
    most = choices.SENTENCE.longest
    if not isinstance(sentence, str) or len(sentence) > most:
        said = Message(
            "sentence = “{value}” must be a text in quotes, up to {most} characters", _of(sentence) | {"most": most}
        )
        raise _at(text, 0, "sentence", said)
    return sentence


def _is_table(value: object) -> bool:
    return isinstance(value, dict)


def _step(text: str, number: int, raw: Mapping[str, Any]) -> LessonStep:
    for key, value in raw.items():
        if key not in KEYS:
            said = Message("“{value}” is not known in a step; allowed: {allowed}", _of(key, Several(KEYS)))
            raise _at(text, number, key, said)
        if key in TEXTS and (not isinstance(value, str) or len(value) > LONGEST):
            most = {"most": f"{LONGEST:,}"}
            said = Message("“{value}” must be a text in quotes, up to {most} characters", _of(value) | most)
            raise _at(text, number, key, said)
    for key in ("title", "idea", "picture"):
        if not raw.get(key):
            said = Message("{key} is missing in step {number}", {"key": key, "number": number})
            raise _at(text, number, "", said)
    for key in ("idea", "do", "question", "truth", "say", "wrong"):
        _check_fields(text, number, key, raw.get(key, ""))
    page, seen = _link(text, number, raw)
    return LessonStep(
        raw["title"],
        raw["idea"],
        _picture(text, number, raw, "picture", "set"),
        raw.get("do", ""),
        _facts(text, number, raw),
        _question(text, number, raw),
        _picture(text, number, raw, "after", "after_set") if "after" in raw else None,
        Notes(raw.get("say", ""), raw.get("wrong", ""), _whole(text, number, raw, "minutes", 3, 0, 120)),
        _terms(text, number, raw),
        page,
        seen,
    )


def _check_fields(text: str, number: int, key: str, template: str) -> None:
    """Fields are plain names: nothing may be reached through them."""
    try:
        fields = [(name, spec) for _text, name, spec, _how in string.Formatter().parse(template) if name is not None]
    except ValueError as wrong:
        how = {"opening": "{{", "closing": "}}"}
        said = Message("{value}; for braces write {opening} and {closing}", _of(wrong) | how)
        raise _at(text, number, key, said) from None
    for name, spec in fields:
        if not name.isidentifier() or not re.fullmatch(r"[,.0-9a-z%]{0,6}", spec or ""):
            example = {"example": "{share:.0%}"}
            said = Message("“{value}” must be the name of a fact, such as {example}", _of(name) | example)
            raise _at(text, number, key, said)


def _picture(text: str, number: int, raw: Mapping[str, Any], key: str, with_key: str) -> LessonPicture:
    kind, set_to = raw[key], raw.get(with_key, {})
    if not isinstance(kind, str) or kind not in PICTURES:
        raise _at(text, number, key, _one_of(f"{key} = {kind}", PICTURES))
    allows = PICTURES[kind].allows
    if not isinstance(set_to, dict):
        raise _at(text, number, with_key, _like(set_to, '{ name = "value" }'))
    for name, value in set_to.items():
        if name not in allows:
            said = Message("“{value}” cannot be set on this picture; nothing can", _of(name))
            if allows:
                said = Message(
                    "“{value}” cannot be set on this picture; allowed: {allowed}", _of(name, Several(allows))
                )
            raise _at(text, number, with_key, said)
        if value not in allows[name]:
            raise _at(text, number, with_key, _one_of(f"{name} = {value}", allows[name]))
    return LessonPicture(kind, set_to)


def _facts(text: str, number: int, raw: Mapping[str, Any]) -> FactsOf:
    name = raw.get("facts")
    if name is None:
        return nothing
    known = facts_by_name()
    if name not in known:
        said = Message("facts = “{value}” must be one of: {allowed}", _of(name, Several(known)))
        raise _at(text, number, "facts", said)
    return known[name]


def _question(text: str, number: int, raw: Mapping[str, Any]) -> Question | None:
    if "question" not in raw:
        return None
    answers, right = raw.get("answers", []), raw.get("right")
    if not isinstance(answers, list) or not all(isinstance(each, str) and each for each in answers):
        raise _at(text, number, "answers", _like(answers, '["one answer", "another"]'))
    if not answers and "facts" not in raw:
        said = Message("“{value}” needs answers = [...] and right", _of(raw["question"]))
        raise _at(text, number, "question", said)
    for each in answers:
        _check_fields(text, number, "answers", each)
    ids = raw.get("ids", [])
    if ids:
        if not isinstance(ids, list) or len(ids) != len(answers) or not all(isinstance(each, str) for each in ids):
            raise _at(text, number, "ids", Message("ids = “{value}” must be one text for each answer", _of(ids)))
        return Question(raw["question"], raw.get("truth", ""), dict(zip(ids, answers, strict=True)))
    if answers and (isinstance(right, bool) or not isinstance(right, int) or not 1 <= right <= len(answers)):
        said = Message(
            "right = “{value}” must be the number of the right answer, 1 to {most}", _of(right) | {"most": len(answers)}
        )
        raise _at(text, number, "right" if "right" in raw else "answers", said)
    numbered = {str(i): each for i, each in enumerate(answers, 1)}
    return Question(raw["question"], raw.get("truth", ""), numbered, str(right) if answers else "")


def _whole(text: str, number: int, raw: Mapping[str, Any], key: str, usual: int, low: int, high: int) -> int:
    value = raw.get(key, usual)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        limits = {"low": low, "high": high}
        said = Message("“{value}” must be a whole number, {low} to {high}", _of(f"{key} = {value}") | limits)
        raise _at(text, number, key, said)
    return value


def _terms(text: str, number: int, raw: Mapping[str, Any]) -> tuple[str, ...]:
    ids = raw.get("terms", [])
    lost = [each for each in ids if each not in glossary_terms.TERMS] if isinstance(ids, list) else [ids]
    if lost:
        said = Message("terms: “{value}” must be among: {allowed}", _of(lost[0], Several(glossary_terms.TERMS)))
        raise _at(text, number, "terms", said)
    return tuple(ids)


def _link(text: str, number: int, raw: Mapping[str, Any]) -> tuple[str, Mapping[str, str]]:
    """The page where a step goes on and what it is set to, from a link as the app itself makes them."""
    link = raw.get("link", "")
    if not link:
        return "", {}
    parts = urlsplit(link)
    page = parts.path.rstrip("/").rpartition("/")[2] or HOME
    known = sorted(each.page for each in pages() if each.page != EVERY_PAGE)
    if page not in known:
        said = Message("link: “{value}” is no page; pages are: {allowed}", _of(page, Several(known)))
        raise _at(text, number, "link", said)
    seen = dict(parse_qsl(parts.query, keep_blank_values=True))
    try:
        chosen_by(page, seen)
    except Problem as wrong:
        raise _at(text, number, "link", Message("link: {problem}", {"problem": wrong.message})) from None
    return page, seen


def _at(text: str, step: int, key: str, said: Message) -> Problem:
    """The Problem with the line of `key` in front, in the given step; 0 is before the first."""
    return Problem("Line {line}: {what}", line=line_of(text, step, key), what=said)


def _of(value: object, allowed: Several | None = None) -> dict[str, object]:
    """What stands in the file, cut to a readable length, and what may stand there."""
    return {"value": _shown(value)[:60]} | ({} if allowed is None else {"allowed": allowed})


def _shown(value: object) -> str:
    """As it stands in the file; Python writes no number of more than 4,300 digits, hexadecimal ones can be read."""
    try:
        return str(value)
    except ValueError:
        return "…"


def _one_of(value: str, allowed: Collection[str]) -> Message:
    return Message("“{value}” must be one of: {allowed}", _of(value, Several(allowed)))


def _like(value: object, written: str) -> Message:
    """`written` is code: it stays as it is in every language."""
    return Message("“{value}” must be {allowed}", _of(value) | {"allowed": written})


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
