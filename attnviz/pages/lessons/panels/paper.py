"""A lesson on paper, made of its file: a worksheet of two pages for students, and a plan for 45 and for 90 minutes."""

import html
import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import accumulate, pairwise

import streamlit as st

from attnviz.app.links import link_state
from attnviz.base.words import _
from attnviz.pages.lessons import choices
from attnviz.pages.lessons.maths.lesson_parts import Lesson, LessonStep

Fill = Callable[[LessonStep, str], str]  #: a text of a step with its numbers, as Markdown
SHORT, LONG = PERIODS = 45, 90
OPENING = 5
WORKSHEET = 20  #: minutes, in the long plan; the short one has what is left
ANSWERS = {SHORT: 5, LONG: 10}
OWN_TRY = 8  #: minutes, at least, in which students go their own ways
BY_HAND = 5  #: minutes, at most, after each step


def draw_paper(lesson: Lesson, sentence: str, labels: Callable[[LessonStep], list[str]], fill: Fill) -> None:
    """Draw what the link asks for, and the way back."""
    back = partial(link_state.set_and_push, choices.PAPER, choices.PAPER.default)
    with st.container(horizontal=True, vertical_alignment="center", key="l-paper-top"):
        st.button(_("Back to the lesson"), key="l-paper-back", icon=":material/arrow_back:", on_click=back)
        st.caption(_("Print it with Ctrl+P or ⌘P. It is made of the lesson’s file, with the numbers of your sentence."))
    draw = _draw_plan if link_state.value(choices.PAPER) == "plan" else _draw_worksheet
    head = f"<h1>{html.escape(lesson.title)}</h1><p><em>{html.escape(sentence)}</em></p>"
    st.html(f'<article class="l-paper">{draw(lesson, head, labels, fill)}</article>')


def _draw_worksheet(lesson: Lesson, head: str, labels: Callable[[LessonStep], list[str]], fill: Fill) -> str:
    """Two pages: what each step says before it is answered, its question, and room to write."""
    blanks = "".join(f"{label}<span></span>" for label in (_("Name"), _("Date")))
    parts = [
        _room_to_write(
            f"{number}. {html.escape(step.title)}", _as_html(fill, step, step.idea), _task(step, labels(step), fill)
        )
        for number, step in enumerate(lesson.steps, 1)
    ]
    parts.append(_room_to_write(_("Now I know, in my own words:")))
    half = len(lesson.steps) // 2
    pages = (f'<p class="l-paper-name">{blanks}</p>{head}', *parts[:half]), parts[half:]
    return "".join(f"<div>{''.join(page)}</div>" for page in pages)


def _room_to_write(title: str, *paragraphs: str) -> str:
    texts = "".join(f"<p>{text}</p>" for text in paragraphs)
    return f"<section><h2>{title}</h2>{texts}<div></div></section>"


def _task(step: LessonStep, answers: list[str], fill: Fill) -> str:
    """What is to be done: the question with its answers, or what is to be tried."""
    if step.question is None:
        return _("Try: {what}").format(what=_as_html(fill, step, step.do)) if step.do else ""
    boxes = "".join(f"<span>☐ {_plain(label)}</span>" for label in answers)
    question, why = _as_html(fill, step, step.question.prompt), _("Why?")
    return f"<strong>{question}</strong></p><p class='l-paper-answers'>{boxes}</p><p>{why}"


def _as_html(fill: Fill, step: LessonStep, template: str) -> str:
    return _plain(fill(step, template)) if template else ""


def _plain(markdown: str) -> str:
    """A filled text as HTML: what was typed is written as entities, so that brackets are those of a colour."""
    return re.sub(r":[a-z]+\[(.*?)\]", r"<b>\1</b>", markdown)


def _draw_plan(lesson: Lesson, head: str, _labels: Callable[[LessonStep], list[str]], fill: Fill) -> str:
    rows = list(plan_rows(lesson, fill))
    unit = _("{n} min")
    clocks = [list(accumulate((minutes[at] for minutes, _what in rows), initial=0)) for at in range(len(PERIODS))]
    times = zip(*(pairwise(clock) for clock in clocks), strict=True)
    cells = "".join(
        f"<tr>{''.join(f'<td>{a}–{b}</td>' if b > a else '<td></td>' for a, b in spans)}<td>{what}</td></tr>"
        for spans, (_minutes, what) in zip(times, rows, strict=True)
    )
    titles = "".join(f"<th>{unit.format(n=clock[-1])}</th>" for clock in clocks)
    return f"<div>{head}<table><tr>{titles}<th></th></tr>{cells}</table></div>"


def plan_rows(lesson: Lesson, fill: Fill) -> Iterator[tuple[tuple[int, int], str]]:
    """Minutes of each part of the hour, in the short and in the long plan, and what is done, as HTML."""
    spare = LONG - OPENING - lesson.minutes - WORKSHEET - ANSWERS[LONG]
    hands_on = min(BY_HAND, max(0, spare - OWN_TRY) // len(lesson.steps))
    yield (
        (OPENING, OPENING),
        _("Open the room, and type the class’s sentence or take the lesson’s. Who knows what attention is?"),
    )
    for number, step in enumerate(lesson.steps, 1):
        fills = partial(_as_html, fill, step)
        vote = _("Vote: {question}").format(question=fills(step.question.prompt)) if step.question else ""
        notes = "".join(f"<br>{text}" for text in (vote, fills(step.say), fills(step.wrong)) if text)
        yield (step.minutes,) * 2, f"<strong>{number}. {html.escape(step.title)}</strong>{notes}"
        if hands_on:
            yield (
                (0, hands_on),
                _("By hand, in pairs: {what}").format(what=fills(step.do) or _("the picture of this step")),
            )
    short = max(0, SHORT - OPENING - lesson.minutes - ANSWERS[SHORT])
    yield (short, WORKSHEET), _("The worksheet, alone or in pairs.")
    links = "".join(f"<br>☐ {html.escape(label)}" for label, _page, _choices in lesson.page_links)
    yield (
        (0, max(0, spare - hands_on * len(lesson.steps))),
        _("Go on by yourselves, each on a page of the app.") + links,
    )
    yield (
        (ANSWERS[SHORT], ANSWERS[LONG]),
        _("Answers together: {what}").format(what=_as_html(fill, lesson.steps[-1], lesson.summary)),
    )
