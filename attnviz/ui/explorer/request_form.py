"""The sentence, the model that reads it, and how: what a Request is made of."""

from __future__ import annotations

from typing import cast

import streamlit as st

from attnviz.core.message import Problem
from attnviz.experiments.explorer import Frame, Request
from attnviz.models.catalogue import EXAMPLES, Example, ModelKind
from attnviz.models.loading import Availability, availabilities
from attnviz.models.settings import current
from attnviz.ui.explorer import explorer_state, saved_view
from attnviz.ui.shared import choice, model_cache, plain, set_linked
from attnviz.words import _, say

OTHER = "other"


def ask() -> Request:
    """Draw the controls above the picture and answer what was asked for."""
    words, which = st.columns([3, 1.2], vertical_alignment="top")
    with which:
        available, name = _model()
    kind, problem = _kind(available, name)
    with words:
        text = st.text_area(
            _("Sentence") if kind != "encoder-decoder" else _("Sentence to read"),
            value=EXAMPLES[0].text,
            key="text",
            bind="query-params",
            height=68,
            max_chars=100_000,
            persist_state="session",
            help=_("Type your own; it is read when you press Ctrl+Enter or click elsewhere."),
        )
    second = _second(kind)
    with st.container(horizontal=True, vertical_alignment="center"):
        _examples()
        frame = _how(kind)
        saved_view.menu()
    if problem is not None:
        raise problem
    return Request(name, text or "", second, frame)


def _kind(available: Availability | None, name: str) -> tuple[ModelKind | None, Problem | None]:
    """What the model is for; one that is not in the catalogue must be opened to know."""
    if available is not None:
        return available.entry.kind, None
    if not name:
        return None, Problem("Name a model: owner/name as on the hub, or a folder of yours")
    try:
        return model_cache.model(name).entry.kind, None
    except Problem as problem:
        return None, problem


def _model() -> tuple[Availability | None, str]:
    states = {found.entry.id: found for found in availabilities() if found.entry.kind != "pictures"}
    order = sorted(states, key=lambda name: not states[name].on_this_machine)
    options = {name: _label(states[name]) for name in order}
    if not current().hosted:
        options[OTHER] = _("another model…")
    name = choice(_("Model"), options, "model", style="select", help=_("Models that are on this machine come first."))
    if name != OTHER:
        return states.get(name), name
    typed = st.text_input(
        _("Hub id or folder"), key="hub_id", bind="query-params", persist_state="session", placeholder="owner/name"
    )  # untranslated: an id
    return None, (typed or "").strip()


def _label(found: Availability) -> str:
    if found.on_this_machine:
        return found.entry.name
    return _("{name} (download {size} MB)").format(name=found.entry.name, size=found.entry.download_mb)


def _second(kind: str | None) -> str:
    """The other text: what a decoder writes, or the second sentence of a pair. Kept when it is out of sight."""
    if kind == "encoder-decoder":
        label, help_ = _("What the decoder has written so far"), _("Leave it empty to start with the first token only.")
    elif kind == "encoder" and st.session_state.get("pair", bool(st.query_params.get("second"))):
        label, help_ = _("Second sentence"), _("The model reads both as a pair; a line in the picture parts them.")
    else:
        return ""
    return st.text_input(label, key="second", bind="query-params", persist_state="session", help=help_) or ""


def _how(kind: str | None) -> Frame:
    """What is put around the sentence, and for encoders whether there is a second one."""
    frames: dict[str, str] = {"usual": _("as the model expects"), "none": _("nothing")}
    if kind not in ("encoder", "encoder-decoder"):
        frames |= {"start": _("a start token"), "chat": _("the chat template")}
    with st.popover(_("How it is read"), icon=":material/tune:", type="tertiary"):
        frame = choice(
            _("Put around the sentence"),
            frames,
            "frame",
            style="radio",
            help=_("Start, end and separator tokens, or a whole chat turn. A model without one keeps to what it has."),
        )
        if kind == "encoder":
            st.toggle(_("Add a second sentence"), value=bool(st.query_params.get("second")), key="pair")
    return cast(Frame, frame)


def _examples() -> None:
    with st.popover(_("Examples"), icon=":material/lightbulb:", type="tertiary"):
        for number, example in enumerate(EXAMPLES):
            st.button(
                plain(example.text if len(example.text) <= 60 else example.text[:59] + "…"),
                key=f"example-{number}",
                help=plain(say(example.shows)),
                on_click=take,
                args=(example,),
                width="stretch",
                type="tertiary",
            )


def take(example: Example) -> None:
    """Show an example: its sentence, and the model and head that show best what it is for."""
    st.session_state["text"] = example.text
    st.session_state["second"], st.session_state["pair"] = example.second, bool(example.second)
    explorer_state.keep_all({"pins": None, "stage": None, "mask": None, "hide": None})
    if example.model:
        set_linked("model", example.model, example.model)
    if example.head is not None:
        layer, head = example.head
        set_linked("at", (layer, head), f"{layer}.{head}")
