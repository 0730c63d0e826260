"""A lesson as a text file, of the app or of a lecturer: Markdown, with errors that name the line and what is allowed.

# My lesson

- sentence: The cat sat on the mat.

## One row

“{token}” shares a weight of {total:.0f} among {n} tokens.

- facts: row
- picture: head mask=causal
- do: Click another row.
- question: Which one gets most?
  - [ ] the first
  - [x] the last
- truth: The last one does.
- link: build?b_step=softmax

Files in TOML, as they were saved earlier, have the same fields.
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
from attnviz.pages.lessons.maths.all_facts import FACTS, current_names
from attnviz.pages.lessons.maths.lesson_parts import Lesson, LessonPicture, LessonStep, PageLink, Question
from attnviz.pages.lessons.panels.hand_pictures import PICTURES

IN_BRACES = ("idea", "do", "question", "truth", "say", "wrong")  #: texts that facts may fill
TEXTS = ("title", *IN_BRACES, "picture", "link")
AT_THE_TOP = ("title", "sentence", "summary", "next", "step")
TOP_LINES = MessageList(("title", "sentence", "summary", "next", "[[step]]"))
KEYS = (*TEXTS, "facts", "set", "after", "after_set", "answers", "ids", "right", "minutes", "terms")
LONGEST = 2000
#: how a number may be written: width and precision of two digits at most, as "{total:999999}" is a megabyte
FORM = re.compile(r"[+ ]?\d{0,2},?(\.\d{1,2})?[a-z%]?|[^{}|]*(\|[^{}|]*)+")
HOME = "home"
MISSING = N_("{value} is missing in step {number}")
ONE_OF = N_("“{value}” must be one of: {allowed}")
LIKE = N_("“{value}” must be {allowed}")  #: as code, which stays as it is in every language
#: lines of a file: a heading, a field, an answer with its sign or its id
HEADING, FIELD = re.compile(r"#{1,2}\s+(.*)"), re.compile(r"[-*]\s+(\w*)[:：]?\s*(.*)")
ANSWER = re.compile(r"\s+[-*]\s+(?:\[([ xX])\]\s*|(\w+)[:：]\s*)?(.*)")
TOML = re.compile(r"^\s*(\[\[\s*step\s*\]\]|title\s*=)", re.MULTILINE)
SETTINGS = {"picture": "set", "after": "after_set"}
#: where in a Markdown file a field stands that has no line of its own
LINE_OF = {"set": "picture", "after_set": "after", "answers": "question", "ids": "question", "right": "question"}


def read(text: str, lesson_id: str = choices.OWN_LESSON) -> Lesson:
    """Parse the text of a lesson file; a Problem names the line and what is allowed there."""
    if len(text) > choices.LARGEST_FILE:
        raise Problem(
            "The file has {n} characters; a lesson has at most {most}.", n=len(text), most=choices.LARGEST_FILE
        )
    top = _Table(text, 0, _parse_toml(text) if TOML.search(text) else _parse_markdown(text))
    for key in top.fields:
        top.require(
            key in AT_THE_TOP, key, N_("“{value}” is not known here; allowed: {allowed}"), key, allowed=TOP_LINES
        )
    title, steps = top.fields.get("title", ""), top.fields.get("step", [])
    is_titled = isinstance(title, str) and bool(title.strip())
    top.require(is_titled, "title", LIKE, title, "title = ", allowed="# My lesson")
    are_tables = isinstance(steps, list) and all(isinstance(step, dict) for step in steps)
    if not are_tables or not 1 <= len(steps) <= choices.MOST_STEPS:
        raise Problem("A lesson has 1 to {most} steps, each below a line “## its title”.", most=choices.MOST_STEPS)
    is_custom = lesson_id == choices.OWN_LESSON
    return Lesson(
        lesson_id,
        title,
        tuple(_read_step(_Table(text, number, fields), is_custom) for number, fields in enumerate(steps, 1)),
        is_custom,
        top.read_text("sentence", choices.SENTENCE.longest),
        top.read_text("summary", LONGEST, in_braces=True),
        _read_page_links(top, is_custom),
        text,
    )


def _parse_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as wrong:
        raise Problem("This file is not TOML: {why}", why=str(wrong)) from None
    except (ValueError, RecursionError):  # as Python refuses numbers and brackets that are no lesson's
        raise Problem("This file is no lesson: it holds a number or brackets beyond reading.") from None


def _parse_markdown(text: str) -> dict[str, Any]:
    """The fields of a Markdown file, named as those of a TOML file."""
    top: dict[str, Any] = {"step": []}
    fields = top
    for line in _join_lines(text):
        if heading := HEADING.fullmatch(line):
            if line.startswith("## "):
                top["step"].append(fields := {})
            fields["title"] = heading[1].strip()
        elif answer := ANSWER.fullmatch(line):
            sign, answer_id, label = answer.groups()
            fields.setdefault("answers", []).append(label)
            if answer_id:
                fields.setdefault("ids", []).append(answer_id)
            if sign in ("x", "X"):
                fields["right"] = "?" if "right" in fields else len(fields["answers"])
        elif field := FIELD.fullmatch(line):
            key, value = field.groups()
            if key in SETTINGS:
                value, *settings = value.split() or [""]
                fields |= {SETTINGS[key]: dict(pair.partition("=")[::2] for pair in settings)} if settings else {}
            kept = int(value) if key == "minutes" and value.isdecimal() and len(value) < LONGEST else value
            fields[key] = [*fields.get(key, []), kept] if key == "next" else kept
    return top


def _join_lines(text: str) -> list[str]:
    """The headings, fields and answers of a file, each on one line; what stands below a heading is the idea."""
    lines: list[str] = []
    for line in map(str.rstrip, text.lstrip("\ufeff").splitlines()):
        if any(form.fullmatch(line) for form in (HEADING, FIELD, ANSWER)):
            lines.append(line)
        elif line and (not lines or HEADING.fullmatch(lines[-1])):
            lines.append(f"- idea: {line.strip()}")
        elif line:
            lines[-1] += " " * lines[-1][-1:].isascii() + line.strip()
    return lines


@dataclass(frozen=True)
class _Table:
    """The fields of a step as they were parsed; with number 0, those at the top of the file."""

    text: str
    number: int
    fields: Mapping[str, Any]

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

    def require(
        self, is_right: bool, key: str, template: str, /, value: object = "", named: str = "", **more: object
    ) -> None:
        """Raise that Problem unless it is right."""
        if not is_right:
            raise self.make_problem(key, template, value, named, **more)

    def read_text(self, key: str, longest: int = LONGEST, *, in_braces: bool = False) -> str:
        """The text of a field, "" where there is none; a Problem where it is none, or has braces of no fact."""
        value = self.fields.get(key, "")
        is_text, most = isinstance(value, str) and len(value) <= longest, f"{longest:,}"
        self.require(is_text, key, N_("“{value}” must be a text in quotes, up to {most} characters"), value, most=most)
        if in_braces:
            _check_braces(self, key, value)
        return str(value)

    def read_names(self, key: str, known: Mapping[str, object]) -> tuple[str, ...]:
        """The names of a field, separated by commas or blanks, or a list; each must be known."""
        names = self.fields.get(key, [])
        if isinstance(names, str):
            names = [name for name in re.split(r"[,，、\s]+", names) if name]
        unknown = [name for name in names if name not in known] if isinstance(names, list) else [names]
        template, first = N_("{key}: “{value}” must be among: {allowed}"), next(iter(unknown), "")
        self.require(not unknown, key, template, first, key=key, allowed=MessageList(known))
        return tuple(names)


def _read_step(table: _Table, is_custom: bool) -> LessonStep:
    for key in table.fields:
        table.require(
            key in KEYS, key, N_("“{value}” is not known in a step; allowed: {allowed}"), key, allowed=MessageList(KEYS)
        )
    texts = {key: table.read_text(key, in_braces=key in IN_BRACES) for key in TEXTS}
    for key in ("title", "idea", "picture"):
        table.require(bool(texts[key]), "", MISSING, key, number=table.number)
    page, page_choices = _read_link(table, "link", texts["link"], is_custom)
    return LessonStep(
        texts["title"],
        texts["idea"],
        _read_picture(table, "picture"),
        texts["do"],
        _read_facts(table),
        _read_question(table, texts),
        _read_picture(table, "after") if "after" in table.fields else None,
        texts["say"],
        texts["wrong"],
        _read_minutes(table),
        table.read_names("terms", glossary_terms.TERMS),
        page,
        page_choices,
    )


def _check_braces(table: _Table, key: str, text: str) -> None:
    """Check that fields are plain names, so that nothing is reached through them; raise a Problem."""
    try:
        fields = list(string.Formatter().parse(text))
    except ValueError as wrong:
        raise table.make_problem(
            key, N_("{value}; for braces write {opening} and {closing}"), wrong, opening="{{", closing="}}"
        ) from None
    for _text, name, spec, _how in fields:
        is_plain, field = (
            name is None or (name.isidentifier() and FORM.fullmatch(spec or "")),
            f"{name}:{spec}".rstrip(":"),
        )
        table.require(
            bool(is_plain),
            key,
            N_("“{value}” must be the name of a fact, such as {example}"),
            field,
            example="{share:.0%}",
        )


def _read_facts(table: _Table) -> tuple[str, ...]:
    """Names of facts; those that a file of earlier calls by other names, as in "row_facts.score", are found."""
    names = table.fields.get("facts", "")
    fields = {"facts": current_names(names)} if isinstance(names, str) else table.fields
    return _Table(table.text, table.number, fields).read_names("facts", FACTS)


def _read_picture(table: _Table, key: str) -> LessonPicture:
    with_key = SETTINGS[key]
    kind, settings = table.fields[key], table.fields.get(with_key, {})
    is_known = isinstance(kind, str) and kind in PICTURES
    table.require(is_known, key, ONE_OF, kind, f"{key} = ", allowed=MessageList(PICTURES))
    allowed = PICTURES[kind].allowed_settings
    table.require(isinstance(settings, dict), with_key, LIKE, settings, allowed='{ name = "value" }')
    for name, value in settings.items():
        table.require(
            name in allowed,
            with_key,
            N_("“{value}” cannot be set on this picture; allowed: {allowed}"),
            name,
            allowed=MessageList(allowed or ("—",)),
        )
        table.require(value in allowed[name], with_key, ONE_OF, value, f"{name} = ", allowed=MessageList(allowed[name]))
    return LessonPicture(kind, settings)


def _read_question(table: _Table, texts: Mapping[str, str]) -> Question | None:
    prompt, truth, right = texts["question"], texts["truth"], table.fields.get("right")
    answers, ids = table.fields.get("answers", []), table.fields.get("ids", [])
    if not prompt:
        return None
    are_texts = isinstance(answers, list) and all(isinstance(answer, str) and answer for answer in answers)
    table.require(are_texts, "answers", LIKE, answers, allowed='["one answer", "another"]')
    table.require(
        bool(answers) or "facts" in table.fields,
        "question",
        N_("“{value}” needs answers, and a sign at the right one: [x]"),
        prompt,
    )
    for answer in answers:
        _check_braces(table, "answers", answer)
    if ids:
        are_ids = isinstance(ids, list) and all(isinstance(answer_id, str) for answer_id in ids)
        is_each = are_ids and len({*ids}) == len(answers)
        table.require(is_each, "ids", N_("ids = “{value}” must be one text for each answer"), ids)
        return Question(prompt, truth, dict(zip(ids, answers, strict=True)))
    template = N_("right = “{value}” must be the number of one answer, 1 to {most}; in Markdown that one has [x]")
    is_one, key = not answers or _is_integer(right, 1, len(answers)), "right" if "right" in table.fields else "answers"
    table.require(is_one, key, template, right, most=len(answers))
    return Question(prompt, truth, {str(i): a for i, a in enumerate(answers, 1)}, str(right) if answers else "")


def _read_minutes(table: _Table) -> int:
    minutes, low, high = table.fields.get("minutes", 3), 0, 120
    table.require(
        _is_integer(minutes, low, high),
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


def _read_page_links(top: _Table, is_custom: bool) -> tuple[PageLink, ...]:
    """What can be tried after a lesson, each written as a link of Markdown."""
    lines = top.fields.get("next", [])
    found = [re.fullmatch(r"\[(.+)\]\((.+)\)", str(line)) for line in lines] if isinstance(lines, list) else [None]
    top.require(None not in found, "next", LIKE, lines, allowed="[another mask](masks?m_rule1=window)")
    return tuple((link[1], *_read_link(top, "next", link[2], is_custom)) for link in found if link)


def _read_link(table: _Table, key: str, link: str, is_checked: bool) -> tuple[str, Mapping[str, str]]:
    """Parse a link into its page and that page's choices. A Problem says what is wrong.

    The app's own lessons are read before all pages are known, and checked by a test.
    """
    if not link:
        return "", {}
    parts = urlsplit(link)
    page, page_choices = parts.path.rstrip("/").rpartition("/")[2] or HOME, dict(parse_qsl(parts.query, True))
    known = sorted(registered.page for registered in pages_with_choices() if registered.page != EVERY_PAGE)
    table.require(
        not is_checked or page in known,
        key,
        N_("link: “{value}” is no page; pages are: {allowed}"),
        page,
        allowed=MessageList(known),
    )
    try:
        if is_checked:
            parse_choices(page, page_choices)
    except Problem as wrong:
        raise table.make_problem(key, N_("link: {problem}"), problem=wrong.message) from None
    return page, page_choices


def line_number(text: str, step: int, key: str) -> int:
    """Line, from 1, of `key` in a step; the step's first line where it has no such key."""
    heading, name = r"##\s", rf"[-*]\s+{LINE_OF.get(key, key)}\s*[:：]"
    if TOML.search(text):
        heading, name = r"\s*\[\[\s*step\s*\]\]", rf"\s*\"?{re.escape(key)}\"?\s*="
    now, start = 0, 1
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(heading, line):
            now += 1
            start = number if now == step else start
        elif now == step and key and re.match(name, line):
            return number
    return start
