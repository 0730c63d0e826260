"""The controls that make a Request: the sentence, the model, and what is put around the sentence."""

from collections.abc import Mapping
from typing import Any, cast

import streamlit as st

from attnviz.app import sentence_input, widgets
from attnviz.app.cache import model_cache
from attnviz.app.links import link_state
from attnviz.app.links.choices import Choice
from attnviz.app.page_parts import examples, menu
from attnviz.base.message import Problem
from attnviz.base.words import _, say
from attnviz.models.catalogue import EXAMPLES, Example, ModelKind
from attnviz.models.loading import availabilities
from attnviz.models.tokens import Frame
from attnviz.pages.explore import choices
from attnviz.runs.head_matrix import Look
from attnviz.runs.model_run import Request


def ask() -> Request | None:
    """Draw the controls; what they ask for, None until the visitor lets the model be loaded."""
    words, which = st.columns([2.6, 1.4], vertical_alignment="top")
    models = sorted(
        (each for each in availabilities() if each.entry.kind != "pictures"), key=lambda each: not each.on_this_machine
    )
    with which:
        name = sentence_input.ask_model(
            choices.MODEL,
            choices.HUB_ID,
            models,
            choices.OTHER_MODEL,
            help=_("Models that are on this machine come first."),
        )
    may_load, kind, problem = _kind({each.entry.id: each.entry.kind for each in models}, name)
    with words:
        text = widgets.text(
            choices.SENTENCE,
            sentence_label(is_read=kind == "encoder-decoder"),
            height=68,
            help=_("Type your own sentence; the model reads it when you press Ctrl+Enter or click elsewhere."),
        )
    second = _second(kind)
    with which, st.container(horizontal=True, vertical_alignment="center", gap="small"):
        listed = (
            (each.text if len(each.text) <= 60 else each.text[:59] + "…", say(each.shows), each) for each in EXAMPLES
        )
        examples("example", listed, take)
        frame = _how(kind)
    request = Request(name, text, second, frame)
    if problem is not None:
        raise problem
    return request if may_load else None


def sentence_label(*, is_read: bool) -> str:
    """The name of the sentence's field; `is_read` where a decoder writes another text."""
    return _("Sentence to read") if is_read else _("Sentence")


def _kind(known: Mapping[str, ModelKind | None], name: str) -> tuple[bool, ModelKind | None, Problem | None]:
    """Whether the model may be loaded; its kind, or why it cannot be: outside the catalogue only loading tells."""
    if name in known:
        return True, known[name], None
    if not name:
        return False, None, Problem("Name a model: owner/name as on the hub, or a folder on this machine")
    try:
        if not sentence_input.may_load(name):
            return False, None, None
        return True, model_cache.model(name).entry.kind, None
    except Problem as problem:
        return False, None, problem


def _second(kind: str | None) -> str:
    """The other text: what a decoder writes, or the second sentence of a pair. It is kept while its box is hidden."""
    # an encoder reads a pair where the visitor switched it on, or before that, where a second sentence was typed
    switched = link_state.value(choices.PAIR)
    if kind == "encoder-decoder":
        label, help_ = _("What the decoder has written so far"), _("Leave it empty to start with the first token only.")
    elif kind == "encoder" and (link_state.value(choices.SECOND) if switched is None else switched):
        label = _("Second sentence")
        help_ = _("The model reads both sentences as a pair; a line in the picture separates them.")
    else:
        return ""
    return widgets.text(choices.SECOND, label, help=help_)


def _how(kind: str | None) -> Frame:
    """Draw what is put around the sentence, and for encoders the switch for a second sentence."""
    frames: dict[str, str] = {"usual": _("as the model expects"), "none": _("nothing")}
    if kind not in ("encoder", "encoder-decoder"):
        frames |= {"start": _("a start token"), "chat": _("the chat template")}
    with menu(_("How it is read"), "reading", type="tertiary"):
        frame = widgets.one_of(
            choices.FRAME,
            _("Put around the sentence"),
            frames,
            style="radio",
            help=_(
                "Start, end and separator tokens, or a whole chat turn. A model that does not have the "
                "chosen one reads the sentence as it expects."
            ),
        )
        if kind == "encoder":
            widgets.toggle(choices.PAIR, _("Add a second sentence"), usual=bool(link_state.value(choices.SECOND)))
    return cast(Frame, frame)


def take(example: Example) -> None:
    """Choose an example: its sentence, and the model and head that show best what it is about. A callback.

    The first one is any model's to read, so it keeps the model that is chosen, and its head where that is another.
    """
    changes: dict[Choice[Any], Any] = {
        choices.SENTENCE: example.text,
        choices.SECOND: example.second,
        choices.PAIR: None,
        choices.PINS: None,
        choices.STAGE: None,
        choices.PAINTED: None,
        choices.HIDDEN: (),
        choices.QUIET: (),
        choices.FRAME: "usual",
    }
    if example is not EXAMPLES[0] or link_state.value(choices.MODEL) in (choices.MODEL.default, example.model):
        changes[choices.MODEL] = example.model
        if example.head is not None:
            changes[choices.AT] = example.head
    link_state.put_all(changes)


def look(pair: bool) -> Look:
    """Draw the display's switches and return their values.

    `pair`: the input has two sentences that can be told apart.
    """
    values = widgets.one_of(
        choices.VALUES,
        _("Show"),
        {"weights": _("weights"), "values": _("weights × values")},
        help=_(
            "Weights show where a head looks. Weights × values show how much it takes from there: each "
            "weight times the length of the value vector."
        ),
    )
    units = widgets.one_of(
        choices.UNITS,
        _("Tokens as"),
        {"pieces": _("pieces"), "words": _("whole words")},
        help=_(
            "Whole words: weights are summed over the pieces of a word that is looked at, and averaged over "
            "the pieces of a word that looks."
        ),
    )
    special = widgets.one_of(
        choices.SPECIAL,
        _("Special tokens"),
        {"shown": _("shown"), "hidden": _("hidden"), "rest": _("hidden, rows sum to 1 again")},
    )
    part = "all"
    if pair:
        part = widgets.one_of(
            choices.PART,
            _("Sentences"),
            {
                "all": _("everything"),
                "first to second": _("first looks at second"),
                "second to first": _("second looks at first"),
                "first to first": _("first looks at itself"),
                "second to second": _("second looks at itself"),
            },
            style="select",
        )
    return Look(values, units, special == "shown", special == "rest", part)  # type: ignore[arg-type]


def colours() -> dict[str, Any]:
    """Draw the colour switches and return them as options of the canvas."""
    scale = widgets.one_of(
        choices.COLOURS,
        _("Colours from 0 to"),
        {"one": _("1, the same for every head"), "own": _("this head's largest")},
    )
    curve = widgets.one_of(choices.CURVE, _("Colour steps"), {"linear": _("even"), "root": _("square root")})
    return {"full_range": scale == "one", "root": curve == "root"}
