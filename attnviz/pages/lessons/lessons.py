"""The page Lessons: one step at a time, with idea, picture, question and teacher's notes."""

import re
from collections.abc import Mapping
from typing import Any

import streamlit as st

from attnviz.analysis.model_run import Request
from attnviz.app import glossary_terms, page_parts, presenting, teaching, widget_values, widgets
from attnviz.app.cache import model_cache
from attnviz.app.cache.shared_results import shared
from attnviz.app.links import link_state
from attnviz.app.panel import show_notices, show_problems
from attnviz.app.text import escape_markdown, isolate_direction
from attnviz.base.message import MessageList, Problem
from attnviz.base.rounding import Rounded, Template
from attnviz.base.words import _, join_list, translate_value
from attnviz.engine import Rerun
from attnviz.models.loading import availability
from attnviz.pages.home import maths as landing
from attnviz.pages.lessons import choices
from attnviz.pages.lessons.maths.all_facts import compute_facts
from attnviz.pages.lessons.maths.lesson_parts import Facts, Lesson, LessonStep, Question, Subject, random_subject
from attnviz.pages.lessons.page_entry import PAGE
from attnviz.pages.lessons.panels import lesson_file, open_lesson, paper
from attnviz.pages.lessons.panels.hand_pictures import PICTURES


def page() -> None:
    """Draw the page. What it is about is said in the menu: each step needs the room, and begins at the same height."""
    page_parts.draw_heading(PAGE, about=False)
    lesson = open_lesson.current_lesson()
    if link_state.value(choices.PAPER) != choices.PAPER.default:
        with show_problems():
            _draw_paper(lesson)
        return
    number = widgets.limit_choice(choices.STEP, len(lesson.steps))
    _draw_top(lesson, number)
    with show_problems():
        _draw_step(lesson, number)
    if not presenting.is_presenting():
        with st.container(horizontal=True, gap="small", key="l-below"):  # on a phone the others are a screen away
            for by, is_open in zip((-1, 1), _open_directions(lesson, number), strict=True):
                _draw_walk_button(by, is_open, "-below")


def _draw_top(lesson: Lesson, number: int) -> None:
    count, step = len(lesson.steps), lesson.steps[number - 1]
    back, on = _open_directions(lesson, number)
    progress_text = _("Step {number} of {count}").format(number=number, count=count)
    presenting.draw_presenter(
        presenting.Walk(
            _lesson_title(lesson),
            progress_text,
            back,
            on,
            open_lesson.walk,
            caption=step.title,
            always=True,
        )
    )
    if presenting.is_presenting():
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="l-top"):
        with st.container(horizontal=True, vertical_alignment="center", gap=None, key="l-walk"):
            _draw_walk_button(-1, back)
            _draw_dots(lesson, number)
            _draw_walk_button(1, on)
        _draw_sentence_box(lesson)
        box = st.popover(
            escape_markdown(_lesson_title(lesson)), icon=":material/menu:", key=open_lesson.MENU, on_change="rerun"
        )
        if box.open:
            with box:
                _draw_menu(lesson)


def _draw_paper(lesson: Lesson) -> None:
    """Draw the worksheet or the plan, with the numbers of the sentence."""
    subject = _make_subject(open_lesson.lesson_sentence(lesson))
    paper.draw_paper(
        lesson,
        subject.text,
        lambda step: (
            list(_answer_labels(step.question, _cached_facts(step.facts, subject)).values()) if step.question else []
        ),
        lambda step, template: fill_sentence(template, _cached_facts(step.facts, subject)),
    )


def _draw_dots(lesson: Lesson, number: int) -> None:
    """Draw a dot for each step, which opens it: those before it, the open one, those to come."""
    with st.container(horizontal=True, gap=None, key="l-dots"):
        for at, step in enumerate(lesson.steps, 1):
            title = escape_markdown(step.title)
            st.button(
                _("Step {number} of {count}: {title}").format(number=at, count=len(lesson.steps), title=title),
                key=f"l-step-{at}",
                type="primary" if at == number else "secondary" if at < number else "tertiary",
                on_click=open_lesson.open_step,
                args=(lesson.id, at),
            )


def _open_directions(lesson: Lesson, number: int) -> tuple[bool, bool]:
    """Whether there is a step before this one, and one after it."""
    steps, here = open_lesson.lesson_steps(lesson), (lesson.id, number)
    return here != steps[0], here != steps[-1]


def _draw_walk_button(by: int, is_open: bool, where: str = "") -> None:
    label, name, arrow = (_("Next"), "next", "forward") if by > 0 else (_("Previous"), "previous", "back")
    st.button(
        label,
        key=f"l-{name}{where}",
        icon=f":material/arrow_{arrow}:",
        type="primary" if by > 0 else "secondary",
        disabled=not is_open,
        on_click=open_lesson.walk,
        args=(by,),
    )


def _draw_sentence_box(lesson: Lesson) -> None:
    """Draw the box for the sentence. An empty one changes nothing.

    A key pressed while a step is still being drawn can make the browser send the box before it was filled.
    """
    choice = choices.SENTENCE
    widgets.show_refusal(choice)
    display: dict[str, Any] = {} if presenting.is_presenting() else {"width": 220}
    st.text_input(
        _("Sentence"),
        label_visibility="collapsed",
        **display,
        **widget_values.bind_widget(choice.name, open_lesson.lesson_sentence(lesson), _store_sentence),
    )


def _store_sentence(text: str | None) -> None:
    if text and text.strip():
        link_state.set_and_push(choices.SENTENCE, text)


def _lesson_title(lesson: Lesson) -> str:
    """The lesson's title, with the number of one of the app's."""
    return lesson.title if lesson.is_custom else f"{choices.IDS.index(lesson.id) + 1} · {lesson.title}"


def _draw_menu(displayed: Lesson) -> None:
    """Draw what is not needed at every step: notes, the lesson on paper, all lessons, and files."""
    # in a room the lecturer has the notes in a window of his own, and a student nowhere
    if not (is_student := link_state.value(choices.STUDENT)) and teaching.room_state() != "shown":
        widgets.toggle(choices.NOTES, _("Teacher’s notes"))
    papers = {"worksheet": (_("Worksheet to print"), ":material/print:")}
    if not is_student:
        papers["plan"] = (_("Plan for 45 and 90 minutes"), ":material/schedule:")
    with st.container(horizontal=True, gap="small"):
        for name, (label, icon) in papers.items():
            st.button(label, key=f"l-{name}", icon=icon, on_click=link_state.set_and_push, args=(choices.PAPER, name))
    for lesson in open_lesson.current_lessons().values():
        st.button(
            _("{title} ({steps} steps, {minutes} min)").format(
                title=escape_markdown(_lesson_title(lesson)), steps=len(lesson.steps), minutes=lesson.minutes
            ),
            key=f"l-open-{lesson.id}",
            type="primary" if lesson.id == displayed.id else "tertiary",
            on_click=open_lesson.open_step,
            args=(lesson.id, 1),
        )
    st.caption(_("Arrow keys walk, too."))
    open_lesson.draw_file_menu(displayed)


def _make_subject(text: str) -> Subject:
    """Build the subject: the sentence, and its run if the trained model is on this machine."""
    if not availability(landing.MODEL).on_this_machine:
        return random_subject(text)
    run = model_cache.get_run(Request(landing.MODEL, text))
    show_notices(run.notices)
    return Subject(
        run,
        lambda: model_cache.model_of_run(run),
        lambda compute, *arguments: model_cache.rerun_cached(run, Rerun(compute, arguments)),
        _make_subject,
    )


#: computed once for all visitors with this sentence
_cached_facts = shared(compute_facts, lambda names, subject: (names, subject.run.request))


class _NegativeNumber(Rounded):
    """A negative number, written with a minus sign as in the pictures, not with a hyphen."""

    def __format__(self, form: str) -> str:
        return super().__format__(form).replace("-", "−", 1)


#: the colour of an object in the picture, as it is written in a file, once the text has been made safe
_COLOURED = re.compile(
    "{}(blue|orange|green|violet){}(.*?){}".format(*(re.escape(escape_markdown(sign)) for sign in ":[]"))
)


def fill_sentence(template: str, facts: Facts) -> str:
    """Fill a template of a lesson's file with the facts, as Markdown. A Problem names a missing fact."""
    values = {
        name: _NegativeNumber(value)
        if isinstance(value, float) and value < 0
        else translate_value(value, lambda text: isolate_direction(text) if isinstance(text, str) else text)
        for name, value in facts.values.items()
    }
    try:
        text = Template(template).format(**values)
    except (KeyError, IndexError, TypeError, ValueError) as missing:
        raise Problem(
            "“{sentence}” asks for {missing}; these facts have: {allowed}",
            sentence=template[:80],
            missing=str(missing),
            allowed=MessageList(tuple(facts.values) or ("—",)),
        ) from None
    if len(text) > 2 * lesson_file.LONGEST:  # each of three hundred fields may hold a whole sentence
        raise Problem(
            "“{sentence}” would become {n} characters with its facts; {most} are allowed",
            sentence=template[:80],
            n=f"{len(text):,}",
            most=f"{2 * lesson_file.LONGEST:,}",
        )
    return _COLOURED.sub(r":\1[\2]", escape_markdown(text))


def _draw_step(lesson: Lesson, number: int) -> None:
    step, subject, presented = (
        lesson.steps[number - 1],
        _make_subject(open_lesson.lesson_sentence(lesson)),
        presenting.is_presenting(),
    )
    facts = _cached_facts(step.facts, subject)
    answers = _answer_labels(step.question, facts) if step.question else {}
    guess = link_state.value(choices.GUESS)
    answered = guess in answers
    picture = step.after if answered and step.after is not None else step.picture
    kind = PICTURES[picture.kind]
    is_below = kind.is_wide or (kind.is_wide_on_page and not presented)
    is_for_class = presented or link_state.value(choices.STUDENT)
    if teaching.room_state() == "shown":
        teaching.show_notes(_fill_notes(step, facts))
    elif link_state.value(choices.NOTES) and not is_for_class:
        st.container(border=True, key="l-notes-box").markdown("  \n".join(_fill_notes(step, facts)))
    is_film = kind.is_wide or kind.is_wide_on_page
    is_story = step.picture.kind in ("story", "bars")  # the answer's picture stands where the question's does
    step_area = st.container(key="l-story" if is_story else "l-film" if is_film else "l-step")
    beside = 2.5 if not presented else 2 if is_film else 1.6
    left, right = step_area.columns([1, 1 if is_below else beside], gap="large")
    has_ended = bool(lesson.summary) and number == len(lesson.steps) and (answered or not answers)
    with left:
        if presented and kind.shows_sentence and not (has_ended and answered):
            _draw_sentence_box(lesson)  # the class may give another
        st.subheader(escape_markdown(step.title), anchor=False)
        if not (presented and answered):  # the answer needs its room
            st.markdown(fill_sentence(step.idea, facts))
    with right if is_below else left:
        if step.question is not None:
            _draw_question(
                lesson,
                step.question,
                answers,
                guess if answered else "",
                facts,
                presented and answered and (has_ended or is_film),
            )
    if step.do and (answered or not answers) and not (presented and has_ended):
        left.markdown("**" + _("Try:") + "** " + fill_sentence(step.do, facts))
    if not presented:  # nothing but the step, and nothing that leads away from it
        with right if is_below else left:
            _draw_further_links(step)
    with st.container() if is_below else right, show_problems():
        name = (
            picture.kind
            if picture.kind in ("board", "story")
            else f"{lesson.id}-{number}-{'after' if answered else 'before'}"
        )
        kind.draw(subject, picture.settings, open_lesson.PICTURE_KEY + name)  # one becomes the next
    if has_ended:
        with (
            left if presented and not is_below else right if kind.is_wide or not is_below else st.container(),
            st.container(border=not presented, key="l-ending"),
        ):
            _draw_ending(lesson, facts)


def _draw_ending(lesson: Lesson, facts: Facts) -> None:
    st.markdown("**" + _("Now you know:") + "** " + fill_sentence(lesson.summary, facts))
    if presenting.is_presenting():
        return
    if lesson.page_links:
        st.markdown(_("Three things to try by yourself:"))
    for label, page, page_choices in lesson.page_links:
        _draw_page_link(escape_markdown(label), page, page_choices, f"l-door-{page}")
    if not lesson.page_links and not lesson.is_custom and lesson.id != choices.IDS[-1]:
        onward = open_lesson.current_lessons()[choices.IDS[choices.IDS.index(lesson.id) + 1]]
        st.button(
            escape_markdown(_lesson_title(onward)),
            key="l-onward",
            icon=":material/arrow_forward:",
            on_click=open_lesson.walk,
            args=(1,),
        )


def _answer_labels(question: Question, facts: Facts) -> dict[str, str]:
    """Id and label of each answer; tokens of the sentence where the facts offer them."""
    if facts.answers and not question.answers:
        return {id: escape_markdown(token) for id, token in facts.answers}
    return {id: fill_sentence(template, facts) for id, template in question.answers.items()}


def _draw_question(
    lesson: Lesson, question: Question, answers: Mapping[str, str], guess: str, facts: Facts, alone: bool = False
) -> None:
    """Draw the question, or what was answered and what is true; `alone`: not repeating the question."""
    prompt = fill_sentence(question.prompt, facts)
    if not alone:
        st.markdown(f"**{prompt}**")
    right = (question.right,) if question.right else facts.right
    ids, because = list(answers), fill_sentence(question.truth, facts)
    teaching.offer_question(
        prompt,
        list(answers.values()),
        lambda: ({ids.index(id) for id in right if id in answers}, because),
        lambda place: link_state.set_and_push(choices.GUESS, ids[place]),
    )
    if not guess:
        with st.container(gap="xxsmall"):
            for id, label in answers.items():
                st.button(label, key=f"l-answer-{id}", on_click=link_state.set_and_push, args=(choices.GUESS, id))
        return
    answer_template = (
        _("Lecturer’s answer: {answer}") if lesson.is_custom and question.right else _("Computed: {answer}")
    )
    text = "  \n".join(
        (
            _("You predicted: {answer}").format(answer=answers[guess]),
            answer_template.format(answer=join_list(answers[id] for id in right if id in answers) or "—"),
            because,
        )
    )
    draw, icon = (st.success, ":material/check:") if guess in right else (st.info, ":material/compare_arrows:")
    draw(text, icon=icon)
    st.button(
        _("Ask again"),
        key="l-again",
        type="tertiary",
        icon=":material/undo:",
        on_click=link_state.set_and_push,
        args=(choices.GUESS, choices.GUESS.default),
    )


def _draw_further_links(step: LessonStep) -> None:
    if step.terms:
        glossary_terms.terms_menu(*step.terms)
    if step.page:
        _draw_page_link(_("Try it further on its page"), step.page, step.page_choices, "l-further")


def _draw_page_link(label: str, page: str, page_choices: Mapping[str, str], key: str) -> None:
    if st.button(label, key=key, type="tertiary", icon=":material/open_in_new:"):
        glossary_terms.open_example(page, page_choices)


def _fill_notes(step: LessonStep, facts: Facts) -> list[str]:
    lines = ["**" + _("For the teacher, {minutes} minutes").format(minutes=step.minutes) + "**"]
    for template, text in (
        (_("Say: {text}"), step.say),
        (_("Where students go wrong: {text}"), step.wrong),
    ):
        lines += [template.format(text=fill_sentence(text, facts))] if text else []
    return lines


if __name__ == "__main__":  # Streamlit runs this file
    page()
