"""The two controls that several pages share: a sentence, and the model that reads it."""

from __future__ import annotations

from collections.abc import Collection

import streamlit as st

from attnviz.app import widgets
from attnviz.app.cache import model_cache
from attnviz.app.links.choices import Choice
from attnviz.app.text import spoken
from attnviz.base.words import _
from attnviz.models.loading import availabilities
from attnviz.runs.model_run import ModelRun, Request


def sentence_run(
    model: Choice[str],
    sentence: Choice[str],
    *,
    model_first: bool = False,
    kinds: Collection[str | None] = ("decoder", "encoder", "encoder-decoder", None),
) -> ModelRun | None:
    """Draw both controls, run the model on the sentence, and show its notices, such as where the text was cut.

    None where no model is on this machine; the page then says where to get one.
    """
    states = [s for s in availabilities() if s.on_this_machine and s.entry.kind in kinds]
    if not states:
        st.info(_("No trained model is on this machine yet: the page “Explore” says how to get one."))
        return None
    columns = st.columns([1, 3] if model_first else [3, 1], vertical_alignment="bottom")
    which, words = columns if model_first else reversed(columns)
    with which:
        names = {s.entry.id: s.name for s in states}
        name = widgets.one_of(model, _("Model"), names, style="select")
    with words:
        text = widgets.text(sentence, _("Sentence"))
    run = model_cache.model_run(Request(name, text))
    for notice in run.notices:
        st.info(spoken(notice))
    return run
