"""The sentence and the model that reads it, as several pages ask for them.

Before a folder of this machine or any model of the hub is loaded, the visitor of this session says yes. A link names a
model, and anyone may have written the link. The yes is kept in the session and in no link.
"""

from collections.abc import Collection, Iterable
from typing import Any, Final, cast

import streamlit as st

from attnviz.analysis.model_run import ModelRun, Request
from attnviz.app import page_parts, widgets
from attnviz.app.cache import model_cache
from attnviz.app.links.choices import Choice
from attnviz.app.panel import show_notices, show_problems
from attnviz.app.text import escape_markdown
from attnviz.base.message import MissingDependency, Problem
from attnviz.base.rounding import Rounded
from attnviz.base.word_boundaries import split
from attnviz.base.words import _
from attnviz.models.catalogue import ModelEntry
from attnviz.models.loading import Availability, availabilities, availability, bytes_on_disk, bytes_on_hub
from attnviz.models.settings import current_settings

_AGREED: Final = "_models_agreed_to"
_SIZES: Final = "_sizes_asked_for"
WIDE = 290  #: pixels of the choice of a model beside a sentence, which takes what is left or, on a phone, its own line


def ask_words(typed: Choice[str], luck: Choice[int]) -> tuple[tuple[str, ...], int]:
    """Draw a sentence and a seed in one row; its words, and the seed of their random vectors."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        words = split(widgets.text_box(typed, _("Your sentence")))
        with page_parts.more_menu():
            return words, widgets.number_box(luck, _("Vectors: random, seed"), step=1)


def sentence_run(
    model: Choice[str],
    sentence: Choice[str],
    *,
    model_first: bool = False,
    kinds: Collection[str | None] = ("decoder", "encoder", "encoder-decoder", None),
) -> ModelRun:
    """Draw both controls, run the model on the sentence, and show its notices, such as where the text was cut.

    A Problem where no model is on this machine; it says where to get one.
    """
    states = [s for s in availabilities() if s.on_this_machine and s.entry.kind in kinds]
    require_model(bool(states))
    names = {s.entry.id: s.name for s in states}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if model_first:
            name = widgets.select_one(model, _("Model"), names, style="select", width=WIDE)
        text = widgets.text_box(sentence, _("Sentence"))
        if not model_first:
            name = widgets.select_one(model, _("Model"), names, style="select", width=WIDE)
    run = model_cache.get_run(Request(name, text))
    show_notices(run.notices)
    return run


def require_model(here: bool) -> None:
    """Raise a Problem that says where to get a trained model, unless one is `here`."""
    if not here:
        raise MissingDependency("No trained model is on this machine yet: the page “Explore” says how to get one.")


def ask_model(
    model: Choice[str],
    hub_id: Choice[str],
    states: Iterable[Availability],
    custom_id: str,
    *,
    usual: str | None = None,
    **looks: Any,
) -> str:
    """Draw the choice among these models; return the chosen id, or what is typed for another one, maybe nothing.

    `custom_id` is what the link holds where one is typed: of the hub, or in a folder of this machine.
    """
    download = _("{name} (download {size} MB)")
    options = {
        state.entry.id: state.name
        if state.on_this_machine
        else download.format(name=state.entry.name, size=state.entry.download_mb)
        for state in states
    }
    if not current_settings().hosted:
        options[custom_id] = _("another model…")
    name = widgets.select_one(model, _("Model"), options, usual=usual, style="select", **looks)
    if name != custom_id:
        return name
    # the placeholder is an id and not translated
    return widgets.text_box(hub_id, _("Hub id or folder"), placeholder="owner/name").strip()


def confirm_load(name: str) -> bool:
    """Whether a model may be loaded for this visitor; where he is still to be asked, the question is drawn."""
    state = availability(name)
    if state.entry.in_catalogue or state.entry.id in _agreed_models():
        return True
    if state.source is None:
        raise Problem(
            "{name} is not on this machine, and downloading from the hub is switched off", name=state.entry.name
        )
    with st.container(border=True):
        st.markdown(_consent_question(state))
        with st.container(horizontal=True):
            st.button(_("Load it"), key="agree", type="primary", on_click=_agreed_models().add, args=(state.entry.id,))
            if state.source == "hub" and state.entry.id not in _sizes():
                st.button(_("Ask the hub for its size"), key="ask-size", on_click=_ask_size, args=(state.entry,))
    return False


def _consent_question(state: Availability) -> str:
    """The question whether a model may be downloaded or loaded, with the size of its weights where it is known."""
    name = escape_markdown(state.entry.id)
    if state.source == "hub":
        size = _sizes().get(state.entry.id)
        known = _("Download {name} from the hub? Its weights are {size} MB.")
        unknown = _("Download {name} from the hub? Only the hub knows how large it is.")
    else:
        size = bytes_on_disk(state)
        known = _("Load the model in {name} on this machine? Its weights are {size} MB.")
        unknown = _("Load the model in {name} on this machine?")
    return unknown.format(name=name) if size is None else known.format(name=name, size=f"{Rounded(size / 10**6):,.1f}")


def _ask_size(entry: ModelEntry) -> None:
    with show_problems():
        _sizes()[entry.id] = bytes_on_hub(entry)


def _agreed_models() -> set[str]:
    return cast(set[str], st.session_state.setdefault(_AGREED, set()))


def _sizes() -> dict[str, int]:
    return cast(dict[str, int], st.session_state.setdefault(_SIZES, {}))
