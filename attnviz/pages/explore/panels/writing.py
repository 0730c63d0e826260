"""The model writes: a token drawn and appended, taken back, or up to fifty one after the other until it is stopped.

Each token is a run of its own, so that the picture grows by its row as it comes. The link follows when the last one is
written; in between only the session knows, or the browser's history would hold every half sentence.
"""

from __future__ import annotations

import random
from typing import Any

import streamlit as st

from attnviz.app import widgets
from attnviz.app.cache import model_cache
from attnviz.app.guarding import show_problem
from attnviz.app.links import link_state
from attnviz.app.links.choices import Choice
from attnviz.base.message import Problem
from attnviz.base.words import _
from attnviz.models.settings import current
from attnviz.pages.explore import choices
from attnviz.pages.explore.panels.shown_head import Shown
from attnviz.runs.predictions import Slot, token_choices

MOST = 50
_BEFORE, _LEFT, _WHY = "_texts_before", "_tokens_to_write", "_why_not_more"

_draw = random.SystemRandom()


def controls(shown: Shown, slot: Slot) -> None:
    """Draw the buttons, and write the next token where there are more to come."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        count = widgets.number(choices.WRITE, _("Tokens"), step=1, width=110)
        st.button(_("Write"), icon=":material/edit:", key="begin-writing", on_click=_begin, args=(shown, count))
        st.button(_("Draw one"), icon=":material/casino:", key="draw-one", on_click=_begin, args=(shown, 1))
        if _left():
            st.button(_("Stop"), icon=":material/stop:", key="stop-writing", on_click=_stop)
        undo = _texts_before(shown)
        st.button(_("Undo"), icon=":material/undo:", key="undo", on_click=_undo, args=(shown,), disabled=not undo)
    if _left():
        st.caption(_("Writing: {left} more to come.").format(left=_left()))
        _write_one(shown, slot)
    elif st.session_state.pop(_LEFT, None) is not None:
        _settle(shown)
    why = st.session_state.pop(_WHY, None)
    if why is not None:
        show_problem(why)


def append(shown: Shown, text: str) -> None:
    """Append to the sentence and pin the new row, in one step of the browser's history. A callback."""
    _remember(shown)
    link_state.put_all(_longer(shown, text))


def _field(shown: Shown) -> Choice[str]:
    """Where the model's tokens go: a decoder that reads another text writes into the second."""
    return choices.SECOND if shown.run.target is not None else choices.SENTENCE


def _longer(shown: Shown, text: str) -> dict[Choice[Any], Any]:
    field = _field(shown)
    return {
        field: link_state.value(field) + text,
        choices.PINS: {"t": [["q", choices.LAST]]},
        choices.STAGE: None,
    }


def _texts_before(shown: Shown) -> list[str]:
    """The texts that what is there was made of, the latest last; none where the visitor has typed since."""
    texts: list[str] = st.session_state.setdefault(_BEFORE, [])
    if texts and not link_state.value(_field(shown)).startswith(texts[-1]):
        texts.clear()
    return texts


def _remember(shown: Shown) -> None:
    _texts_before(shown).append(link_state.value(_field(shown)))


def _left() -> int:
    return int(st.session_state.get(_LEFT) or 0)


def _begin(shown: Shown, count: int) -> None:
    st.session_state[_LEFT] = count


def _stop() -> None:
    st.session_state[_LEFT] = 0


def _undo(shown: Shown) -> None:
    texts = _texts_before(shown)
    if texts:
        link_state.put_all({_field(shown): texts.pop(), choices.PINS: None, choices.STAGE: None})


def _write_one(shown: Shown, slot: Slot) -> None:
    """Draw a token as temperature and top-k let it be drawn, append it, and let the page be drawn again."""
    loaded = model_cache.model_of(shown.run)
    temperature, top_k = link_state.value(choices.TEMPERATURE), link_state.value(choices.TOP_K)
    found = token_choices(loaded, slot, top_k, temperature, top_k)
    chosen = _draw.choices(found, [choice.drawn for choice in found])[0]
    limit = current().token_limit
    if loaded.tokenizer is not None and chosen.token in loaded.tokenizer.all_special_ids:
        _end(Problem("The model ends its text here: it chose “{token}”.", token=chosen.label))
    elif len(shown.stack.queries) >= limit:
        _end(Problem("The sentence has {n} tokens; at most {limit} can be read here.", n=limit, limit=limit))
    else:
        _remember(shown)
        for choice, new in _longer(shown, chosen.text).items():
            link_state.keep(choice, new)
        st.session_state[_LEFT] = _left() - 1
    st.rerun(scope="app")


def _end(why: Problem) -> None:
    st.session_state[_LEFT] = 0
    st.session_state[_WHY] = why


def _settle(shown: Shown) -> None:
    """Write the link, now that the last token is there."""
    field = _field(shown)
    link_state.put_all({field: link_state.value(field)})
