"""A guess before the truth: one line asks what a picture is about to show, and shows the guess beside the answer.

    GUESS = PAGE.one_of("m_guess", label=N_("Your guess"))  # in choices.py, its name ends in "guess"

    guess.ask(choices.GUESS, question, {"more": _("More"), "less": _("Less")}, lambda: ("more", because))

Call it right after the picture and before its footer: a guess comes before the sentence that tells. Ask of what changes
next, not of what is on show, and only where one answer alone is right; else draw nothing.
"""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from attnviz.app import presenting, teaching
from attnviz.app.links import link_state
from attnviz.app.links.choices import Choice
from attnviz.app.text import typeset_minus
from attnviz.base.words import _, join_sentences


def ask(
    choice: Choice[str],
    question: str,
    answers: Mapping[str, str],
    truth: Callable[[], tuple[str, str]],
    *,
    about: str = "",
    shows: Callable[[bool], Mapping[Choice[Any], Any]] = lambda _answered: {},
) -> None:
    """Draw the question with a button for each answer, a label by its id; once answered, the guess and the truth.

    `truth` is called when it is told: the id of the right answer, "" where no answer is exact, and a computed sentence
    that is understood without the question. `about` names what is asked about, a head say: a guess about another one
    counts for nothing. `shows`: what an answer chooses beside, so that the picture shows the truth, given True, and
    what asking again does, given False. A lecturer can put the question to a room. Nothing is asked where a figure
    is embedded alone.
    """
    if presenting.embedded_figure():
        return
    given = {f"{answer}.{about}" if about else answer: label for answer, label in answers.items()}
    guess = link_state.value(choice)

    def take(answer: str) -> None:
        link_state.set_many({choice: answer, **shows(answer != choice.default)})

    def tell_room() -> tuple[list[int], str]:
        right, because = truth()
        return [place for place, answer in enumerate(answers) if answer == right], because

    teaching.offer_question(question, [*answers.values()], tell_room, lambda place: take([*given][place]))
    with st.container(key=f"guess-{choice.name}", horizontal=True, vertical_alignment="center", gap="small"):
        if guess not in given:
            st.markdown(typeset_minus(f"**{question}**"), width="content")
            for answer, label in given.items():
                st.button(label, key=f"{choice.name}-{answer.split('.')[0]}", on_click=take, args=(answer,))
            return
        right, because = truth()
        st.markdown(typeset_minus(join_sentences(_compare(given[guess], answers.get(right, "")), because)))
        st.button(
            _("Ask again"),
            key=f"{choice.name}-again",
            type="tertiary",
            icon=":material/undo:",
            on_click=take,
            args=(choice.default,),
        )


def asked_about(choice: Choice[str]) -> str:
    """What the visitor's guess is about; empty where there is none."""
    return link_state.value(choice).partition(".")[2]


def _compare(guessed: str, right: str) -> str:
    template = (
        _("You predicted: {guess}.")
        if not right
        else _("You predicted: {guess}. **So it is.**")
        if guessed == right
        else _("You predicted: {guess}. **Computed: {right}.**")
    )
    return template.format(guess=guessed, right=right)
