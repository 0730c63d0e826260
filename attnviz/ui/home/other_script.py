"""The start page's sentence in Chinese: a button offers it to a Chinese reader; how well the model reads it."""

from __future__ import annotations

import streamlit as st

from attnviz.core.message import Problem
from attnviz.engine.engine_protocol import Rerun
from attnviz.experiments.explorer import Request
from attnviz.experiments.home import landing, sentence_fit
from attnviz.models.loading import availability
from attnviz.ui.home import home_choices
from attnviz.ui.shared import link_state, model_cache, plain
from attnviz.words import _, sentences, tongue


def offer(text: str) -> None:
    """Draw the button, in Chinese alone; below a sentence in Chinese, in any language, what reading it takes."""
    if tongue() == "zh":
        other = home_choices.EXAMPLE if text == home_choices.CHINESE else home_choices.CHINESE
        st.button(
            _("Try: {sentence}").format(sentence=plain(other)),
            key="start-other-script",
            icon=":material/translate:",
            type="tertiary",
            on_click=link_state.put,
            args=(home_choices.SENTENCE, other),
        )
    if sentence_fit.is_chinese(text) and availability(landing.MODEL).on_this_machine:
        try:
            st.caption(_how_well(text))
        except Problem:
            return  # the picture below says what is wrong


def _how_well(text: str) -> str:
    name, fit = _fit(text)
    said = _(
        "{model} learned mostly from English: to it these {characters} characters are {tokens} tokens, {parts} of "
        "which are only some bytes of a character (1/3: the first of three), and what comes next surprises it by "
        "{nats:.0f} nats in all."
    ).format(model=plain(name), **vars(fit))
    if text != home_choices.CHINESE:
        return said
    _name, english = _fit(home_choices.EXAMPLE)
    same = _("The same sentence in English is {tokens} tokens and {nats:.0f} nats.")
    return sentences(said, same.format(tokens=english.tokens, nats=english.nats))


def _fit(text: str) -> tuple[str, sentence_fit.SentenceFit]:
    run = model_cache.model_run(Request(landing.MODEL, text))
    return run.name, model_cache.cached_rerun(run, Rerun("sentence_fit"))
