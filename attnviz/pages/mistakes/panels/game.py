"""A program of which one line is wrong; once it is pointed at, what it does and which test finds it."""

import random
from collections.abc import Mapping

import numpy as np
import streamlit as st

from attnviz.app import page_parts, presenting, show, teaching
from attnviz.app.cache.shared_results import shared
from attnviz.app.exports import cell_columns
from attnviz.app.links import link_state
from attnviz.app.panel import show_problems
from attnviz.app.sentence_input import ask_words
from attnviz.app.text import escape_markdown, quote_word, typeset_minus
from attnviz.app.workarounds.streamlit_adapter import session_dict
from attnviz.base.head_record import HeadData, HeadView
from attnviz.base.word_boundaries import split
from attnviz.base.words import _, join_sentences
from attnviz.canvas.code_lines import code_lines
from attnviz.canvas.head.attention_view import head_picture, head_view
from attnviz.canvas.presenter import Walk
from attnviz.pages.mistakes import choices
from attnviz.pages.mistakes.maths import mistake as maths
from attnviz.pages.mistakes.maths.all_mistakes import MISTAKES, TOPIC_OF, TOPICS

LONG = 32  #: words; pictures of a longer sentence get a square-root colour scale
_GUESSED = "_mistakes_guessed"  #: by mistake, whether the visitor's first guess was right, in the order of guessing
cached_comparison = shared(lambda name, words, seed: maths.compare(MISTAKES[name], words, seed), key=lambda *call: call)


def current_mistake() -> str:
    """The mistake on show: the chosen one, or the first of a topic that it does not belong to."""
    name, topic = link_state.value(choices.MISTAKE), link_state.value(choices.TOPIC)
    return name if topic in (choices.CHANCE, TOPIC_OF[name]) else TOPICS[topic][1][0]


def walk(_titles: Mapping[str, str]) -> Walk:
    """What next and previous go through: the mistakes of the topic, or all of them."""
    name, topic = current_mistake(), link_state.value(choices.TOPIC)
    names = list(MISTAKES) if topic == choices.CHANCE else list(TOPICS[topic][1])
    at = names.index(name)
    return Walk(
        _(TOPICS[TOPIC_OF[name]][0]),
        f"{at + 1} / {len(names)}",
        at > 0,
        at < len(names) - 1,
        lambda by: _open_mistake(names[min(max(at + by, 0), len(names) - 1)]),
    )


def panel() -> None:
    """Draw the program and, once a line was pointed at, what follows from it."""
    name = current_mistake()
    mistake, guess = MISTAKES[name], link_state.value(choices.GUESS)
    line = guess[1] if guess is not None and guess[0] == name else None
    with page_parts.main_picture(), show_problems():
        _draw_program_and_weights(name, mistake, line)
    numbers = [number for number, code in enumerate(mistake.wrong_code, 1) if code.text.strip()]
    teaching.offer_question(
        _("Which line is wrong?"),
        [escape_markdown(f"{number}: {mistake.wrong_code[number - 1].text.strip()}") for number in numbers],
        lambda: ({numbers.index(number) for number in mistake.wrong_lines}, _(mistake.why)),
        lambda place: link_state.set_and_push(choices.GUESS, (name, numbers[place])),
    )


def _draw_program(name: str, mistake: maths.Mistake, line: int | None) -> None:
    found = line in mistake.wrong_lines
    code_lines(
        "mistake-code",
        [(" ", code.text) for code in mistake.wrong_code] if line is None else mistake.lines,
        about=name,
        chosen=line,
        verdict=None if line is None else (found, _feedback_sentence(mistake, line, found)),
        name=_("Lines of the program"),
        hint=_("Point at the line that is wrong."),
        on_line=lambda number: _guess(name, number),
    )
    if presenting.is_presenting():
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="mistake-bar"):
        st.button(
            _("Next program"),
            key="mistake-next",
            type="secondary" if line is None else "primary",
            icon=":material/arrow_forward:",
            on_click=_open_next,
        )
        if line is None:
            st.button(
                _("Show me"),
                key="mistake-show",
                type="tertiary",
                on_click=link_state.set_and_push,
                args=(choices.GUESS, (name, 0)),
            )


def _feedback_sentence(mistake: maths.Mistake, line: int, found: bool) -> str:
    """Whether the line is wrong, or else which is, and what is wrong with it."""
    first, *others = map(str, mistake.wrong_lines)
    wrong = _("{first} or {next}").format(first=first, next=others[0]) if others else first
    title, streak = typeset_minus(_(mistake.title)), count_streak()
    if not found:
        template = _("Not line {line}. It is line {wrong}: {title}.") if line else _("It is line {wrong}: {title}.")
        return template.format(line=line, wrong=wrong, title=title)
    return join_sentences(
        _("Yes, line {line}: {title}.").format(line=line, title=title),
        _("Either of the two counts: they change places.") if others else "",
        _("That is {n} in a row.").format(n=streak) if streak > 1 else "",
    )


def _guess(name: str, line: int) -> None:
    """Take a guess; the first one of each mistake counts. A callback."""
    session_dict(_GUESSED).setdefault(name, line in MISTAKES[name].wrong_lines)
    link_state.set_and_push(choices.GUESS, (name, line))


def count_streak() -> int:
    """How many of the last mistakes were found by the first guess, one after the other."""
    guessed = list(session_dict(_GUESSED).values())
    return next((n for n, was_right in enumerate(reversed(guessed)) if not was_right), len(guessed))


def _open_mistake(name: str) -> None:
    link_state.set_many({choices.MISTAKE: name, choices.GUESS: None})


def _open_next() -> None:
    """Open the next mistake of the topic, or by chance one that was not guessed yet. A callback."""
    name, topic = current_mistake(), link_state.value(choices.TOPIC)
    if topic != choices.CHANCE:
        names = TOPICS[topic][1]
        _open_mistake(names[(names.index(name) + 1) % len(names)])
        return
    others = [other for other in MISTAKES if other != name]
    fresh = [other for other in others if other not in session_dict(_GUESSED)]
    _open_mistake(random.choice(fresh or others))


def _draw_program_and_weights(name: str, mistake: maths.Mistake, line: int | None) -> None:
    """Draw the program and what it gives; once it is answered, what the right one gives, and below, what finds it."""
    grid = st.container(key="mistake-beside")  # the style of the page lays it out
    with grid.container():
        _draw_program(name, mistake, line)
    words, seed = split(link_state.value(choices.SENTENCE)), link_state.value(choices.SEED)
    found = cached_comparison(name, words, seed)
    sentence = "" if line is None else describe(found, words)
    sides: tuple[maths.Side, ...] = ("wrong",) if line is None else ("wrong", "right")
    for side in sides:
        with grid.container():
            _draw_picture(found, side, words, name, sentence)
    if line is None:
        return
    st.markdown(typeset_minus(f"**{sentence}** " + _(mistake.why)))
    st.markdown("**" + _("The test that finds it: {test}").format(test=_(mistake.test)) + "** " + _verdict(found))
    st.code(mistake.check, language="python", wrap_lines=True)
    ask_words(choices.SENTENCE, choices.SEED)
    show.program(
        lambda: mistake.notebook("wrong", words, seed),
        "mistake",
        about=_("The wrong program with its test, which stops it: paste it into a notebook."),
    )


def _draw_picture(found: maths.Comparison, side: maths.Side, words: tuple[str, ...], name: str, sentence: str) -> None:
    """Draw the weights that one program computes, or what PyTorch says where it stops."""
    title = _("What the wrong program gives") if side == "wrong" else _("What the right program gives")
    weights, right = found.weights(side), found.weights("right")
    if weights is None or right is None:
        st.caption(title)
        st.code(
            f"RuntimeError: {(found.wrong if side == 'wrong' else found.right).error}", language=None, wrap_lines=True
        )
        return
    rows, cols = words[-len(weights) :], words[-weights.shape[1] :]
    head = HeadData.of_values(weights, rows, cols, (weights == 0) & (right == 0))
    view = HeadView(title, compact=True, root=len(cols) > LONG)
    key = f"mistake-{side}"
    pins = head_view(key, head, view, group="mistake")
    show.footer(
        lambda: head_picture(head, view, pins, ""),
        name=f"mistake-{name}-{side}",
        key=f"{key}-save",
        canvas=show.live_canvas(key),
        table=lambda: {**cell_columns(rows, cols), "value": head.scores.ravel().tolist()},
        caption=_("{picture}: {fact}").format(picture=title, fact=sentence) if sentence else title,
    )


def describe(found: maths.Comparison, words: tuple[str, ...]) -> str:
    """What differs in the sentence, with its numbers."""
    wrong, right = found.weights("wrong"), found.weights("right")
    if wrong is None or right is None:
        return _("The wrong program stops with an error.")
    rows, cols = words[-len(right) :], words[-right.shape[1] :]
    if not np.isfinite(wrong).all():
        lost = int((~np.isfinite(wrong)).any(-1).sum())
        return _("Rows of the wrong program without a number (NaN): {lost} of {n}.").format(lost=lost, n=len(wrong))
    if not found.apart:
        return _("In this sentence both programs give the same weights: type another one.")
    query, key = found.cell
    told = _("{query} gives {key} {wrong:.1%}; right is {right:.1%}.").format(
        query=quote_word(rows[query]), key=quote_word(cols[key]), wrong=wrong[query, key], right=right[query, key]
    )
    count = _("Weights that are off: {n} of {all}.").format(n=found.apart, all=right.size)
    head = "" if found.head is None else _("Drawn is head {head}.").format(head=found.head)
    return join_sentences(told, count, head)


def _verdict(found: maths.Comparison) -> str:
    """What the test says of both programs."""
    if found.right.passes and not found.wrong.passes:
        return _("It stops the wrong program and passes the right one.")
    return _("In this sentence it cannot tell them apart: type another one.")
