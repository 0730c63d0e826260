"""Eight lessons on attention, and one step of them on the screen: idea, picture, question, teacher's notes."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from attnviz.app import page_parts, presenting, term_popover, widgets
from attnviz.app.cache import model_cache
from attnviz.app.links import link_state
from attnviz.app.panel import guard
from attnviz.app.text import plain, spoken
from attnviz.base.message import Message, Problem, Several
from attnviz.base.words import _
from attnviz.models.loading import availability
from attnviz.pages.home import maths as landing
from attnviz.pages.lessons import choices
from attnviz.pages.lessons.maths.lesson_parts import Facts, Lesson, LessonStep, Question, Subject
from attnviz.pages.lessons.page_entry import PAGE
from attnviz.pages.lessons.panels import all_lessons, open_lesson
from attnviz.pages.lessons.panels.hand_pictures import PICTURES
from attnviz.runs.model_run import Request


def page() -> None:
    """Draw the page; what it is, is said at the very first step alone: later steps need its room."""
    first = link_state.value(choices.LESSON) == choices.IDS[0] and link_state.value(choices.STEP) == 1
    page_parts.page_heading(PAGE, about=first)
    lesson = open_lesson.chosen_lesson()
    number = min(link_state.value(choices.STEP), len(lesson.steps))
    _top(lesson, number)
    with guard():
        _step(lesson, number)
    if not presenting.presenting():
        with st.container(horizontal=True, gap="small", key="l-below"):  # on a phone the others are a screen away
            _walk_buttons(lesson, number, "-below")


def _top(lesson: Lesson, number: int) -> None:
    """Draw the lesson's name, the steps, previous and next, the sentence and the switch for notes."""
    count = len(lesson.steps)
    place = _("Step {number} of {count}").format(number=number, count=count)
    presenting.presenter(presenting.Walk(_title(lesson), place, *_leads(lesson, number), open_lesson.walk, always=True))
    if presenting.presenting():
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="l-top"):
        box = st.popover(_title(lesson), icon=":material/school:", key="l-lessons", on_change="rerun")
        if box.open:
            with box:
                _contents(lesson)
        _walk_buttons(lesson, number)
        _sentence()
        widgets.toggle(choices.NOTES, _("Teacher’s notes"))
    st.progress(number / count, place)


def _leads(lesson: Lesson, number: int) -> tuple[bool, bool]:
    """Whether the way leads back from this step, and on."""
    way, here = all_lessons.places(lesson), (lesson.id, number)
    return here != way[0], here != way[-1]


def _walk_buttons(lesson: Lesson, number: int, where: str = "") -> None:
    back, on = _leads(lesson, number)
    walks = ((-1, back, _("Previous"), "l-previous", "back"), (1, on, _("Next"), "l-next", "forward"))
    for by, leads, label, key, way in walks:
        st.button(
            label,
            key=key + where,
            icon=f":material/arrow_{way}:",
            type="primary" if by > 0 else "secondary",
            disabled=not leads,
            on_click=open_lesson.walk,
            args=(by,),
        )


def _sentence() -> None:
    """Draw the box for the sentence. An empty one changes nothing.

    A key pressed while a step is still being drawn can make the browser send the box before it was filled.
    """
    choice = choices.SENTENCE
    widgets.say_refusal(choice)
    widgets.set_before_drawn(choice.name, link_state.value(choice), _typed)
    look: dict[str, Any] = {"label_visibility": "collapsed"} if presenting.presenting() else {"width": 300}
    st.text_input(_("Sentence"), key=choice.name, max_chars=choice.longest, on_change=_typed, **look)


def _typed() -> None:
    typed = st.session_state[choices.SENTENCE.name]
    if not widgets.is_late(choices.SENTENCE.name) and typed and typed.strip():
        link_state.put(choices.SENTENCE, typed)


def _title(lesson: Lesson) -> str:
    return plain(lesson.title) if lesson.own else f"{choices.IDS.index(lesson.id) + 1} · {_(lesson.title)}"


def _contents(shown: Lesson) -> None:
    """All lessons with their steps' number and minutes, and a lecturer's own."""
    for lesson in all_lessons.LESSONS.values():
        st.button(
            _("{title} ({steps} steps, {minutes} min)").format(
                title=_title(lesson), steps=len(lesson.steps), minutes=lesson.minutes
            ),
            key=f"l-open-{lesson.id}",
            type="primary" if lesson.id == shown.id else "tertiary",
            on_click=open_lesson.open_step,
            args=(lesson.id, 1),
        )
    st.caption(_("Steps of this lesson"))
    with st.container(horizontal=True, gap="xxsmall"):
        for i, step in enumerate(shown.steps, 1):
            st.button(
                str(i),
                key=f"l-step-{i}",
                type="tertiary",
                help=plain(step.title) if shown.own else _(step.title),
                on_click=open_lesson.open_step,
                args=(shown.id, i),
            )
    st.caption(_("Arrow keys walk, too."))
    open_lesson.files(shown)


def subject() -> Subject:
    """The sentence, and its pass through the trained model where that is on this machine."""
    text = link_state.value(choices.SENTENCE)
    if not text.strip():
        raise Problem("The sentence is empty: type at least one word")
    if not availability(landing.MODEL).on_this_machine:
        return Subject(text)
    run = model_cache.model_run(Request(landing.MODEL, text))
    for notice in run.notices:
        st.info(spoken(notice))
    return Subject(text, run, lambda: model_cache.model_of(run))


@st.cache_resource(max_entries=512, show_spinner=False)
def _computed(name: str, text: str, version: str, _step: LessonStep, _about: Subject) -> Facts:
    """The step's facts, computed once for all visitors with this sentence."""
    return _step.facts(_about)


class _BelowZero(float):
    """A number that is written with a minus, as in the pictures, and not with a hyphen."""

    def __format__(self, form: str) -> str:
        return super().__format__(form).replace("-", "−", 1)


def filled(lesson: Lesson, template: str, facts: Facts) -> str:
    """A sentence with its numbers: in the visitor's language, or as the lecturer wrote it."""
    values = {
        name: _BelowZero(value) if isinstance(value, float) and value < 0 else value
        for name, value in facts.values.items()
    }
    if not lesson.own:
        return spoken(Message(template, values))
    try:
        return plain(template.format(**values))
    except (KeyError, IndexError, ValueError) as missing:
        raise Problem(
            "“{sentence}” asks for {missing}; these facts have: {allowed}",
            sentence=template[:80],
            missing=str(missing),
            allowed=Several(tuple(facts.values) or ("—",)),
        ) from None


def _step(lesson: Lesson, number: int) -> None:
    step = lesson.steps[number - 1]
    about = subject()
    version = "" if about.run is None else about.run.request.version
    facts = _computed(all_lessons.name_of(step.facts), about.text, version, step, about)
    guess = link_state.value(choices.GUESS)
    answers = _answers(lesson, step.question, facts) if step.question else {}
    answered = guess in answers
    picture = step.after if answered and step.after is not None else step.picture
    kind = PICTURES[picture.kind]
    below = kind.wide or (kind.wide_on_page and not presenting.presenting())
    left, right = st.columns([1, 1] if below else [1, 2.1], gap="large")
    with left:
        if presenting.presenting() and kind.of_sentence:
            _sentence()  # the class may give another
        st.subheader(plain(step.title) if lesson.own else _(step.title), anchor=False)
        st.markdown(filled(lesson, step.idea, facts))
        if step.do and below:
            _do(lesson, step, facts)
    with right if below else left:
        if step.question is not None:
            _ask(lesson, step.question, answers, guess if answered else "", facts)
        if step.do and not below:
            _do(lesson, step, facts)
        if not presenting.presenting():  # nothing but the step, and nothing that leads away from it
            _further(step)
    with st.container() if below else right, guard():
        key = f"{open_lesson.PICTURE_KEY}{lesson.id}-{number}-{'after' if answered else 'before'}"
        kind.draw(about, picture.set_to, key)
    if link_state.value(choices.NOTES) and not presenting.presenting():  # they are not for the class
        _notes(lesson, step, facts)


def _do(lesson: Lesson, step: LessonStep, facts: Facts) -> None:
    st.markdown("**" + _("Try:") + "** " + filled(lesson, step.do, facts))


def _answers(lesson: Lesson, question: Question, facts: Facts) -> dict[str, str]:
    """Id and words of each answer; tokens of the sentence where the facts offer them."""
    if facts.answers and not question.answers:
        return {id: plain(token) for id, token in facts.answers}
    return {id: filled(lesson, words, facts) for id, words in question.answers.items()}


def _ask(lesson: Lesson, question: Question, answers: Mapping[str, str], guess: str, facts: Facts) -> None:
    """Ask, and once it is answered show the prediction beside the truth."""
    st.markdown(f"**{filled(lesson, question.asked, facts)}**")
    if not guess:
        with st.container(gap="xxsmall"):
            for id, words in answers.items():
                st.button(words, key=f"l-answer-{id}", on_click=link_state.put, args=(choices.GUESS, id))
        return
    right = question.right or facts.right
    truly = _("Lecturer’s answer: {answer}") if question.right else _("Computed: {answer}")
    text = "  \n".join(
        (
            _("You predicted: {answer}").format(answer=answers[guess]),
            truly.format(answer=answers.get(right, "—")),
            filled(lesson, question.truth, facts),
        )
    )
    if guess == right:
        st.success(text, icon=":material/check:")
    else:
        st.info(text, icon=":material/compare_arrows:")
    st.button(
        _("Ask again"),
        key="l-again",
        type="tertiary",
        icon=":material/undo:",
        on_click=link_state.put,
        args=(choices.GUESS, choices.GUESS.default),
    )


def _further(step: LessonStep) -> None:
    """The step's terms, and the page where the same can be tried further."""
    if step.terms:
        term_popover.words_menu(*step.terms)
    if step.page and st.button(
        _("Try it further on its page"), key="l-further", type="tertiary", icon=":material/open_in_new:"
    ):
        term_popover.see(step.page, step.seen)


def _notes(lesson: Lesson, step: LessonStep, facts: Facts) -> None:
    notes = step.notes
    with st.container(border=True, key="l-notes-box"):
        st.markdown("**" + _("For the teacher, {minutes} minutes").format(minutes=notes.minutes) + "**")
        if notes.say:
            st.markdown(_("Say: {text}").format(text=filled(lesson, notes.say, facts)))
        if notes.wrong:
            st.markdown(_("Where students go wrong: {text}").format(text=filled(lesson, notes.wrong, facts)))


if __name__ == "__main__":  # Streamlit runs this file
    page()
