"""Which picture: held-out digits side by side, a drawing, a shipped photograph, or a visitor's own."""

import hashlib
import json
from base64 import b64decode, b64encode
from dataclasses import replace

import numpy as np
import streamlit as st

from attnviz.app import sentence_input, widgets
from attnviz.app.cache import model_cache
from attnviz.app.links import link_state
from attnviz.app.panel import show_problem
from attnviz.app.text import escape_markdown, translate_markdown
from attnviz.app.workarounds.streamlit_adapter import upload_id
from attnviz.base.message import Problem
from attnviz.base.words import _
from attnviz.canvas import digit_pad
from attnviz.models.catalogue import LoadedModel
from attnviz.models.loading import availabilities
from attnviz.models.pictures import (
    SAMPLES,
    count_ink,
    has_two_encoders,
    held_out_digits,
    join_digits,
    read_photo,
    sample,
    takes_text,
)
from attnviz.pages.pictures import choices
from attnviz.pages.pictures.panels.picture_cache import ChosenPicture

_PHOTO, _OPENED = "_own_picture", "_own_picture_opened"
FORMAT = "attnviz picture 1"


def draw_form(loaded: LoadedModel) -> ChosenPicture | None:
    """Draw the controls; the picture with what is asked of it, or None while there is none."""
    picture = _picture(_digits_of(loaded))
    if picture is None:
        return None
    if takes_text(loaded.model):
        asked = widgets.text_box(choices.ASKED, _("Question"), help=_("The words that look at the picture."))
    elif has_two_encoders(loaded.model):
        asked = widgets.text_box(
            choices.COMPARED,
            _("Descriptions to compare it with"),
            help=_("The model says how well each fits the picture. Put a comma between them."),
        )
    else:
        return picture
    return replace(picture, asked=asked.strip())


def _picture(digits: int) -> ChosenPicture | None:
    """The controls for a picture. `digits`: how many the model reads, 0: any."""
    sources = {"digits": _("Digits"), "draw": _("Draw"), "photo": _("Photographs"), "own": _("Your own")}
    if digits and link_state.value(choices.SOURCE) != "photo":  # a link may still ask for one
        del sources["photo"]
    source = widgets.select_one(choices.SOURCE, _("Picture"), sources, usual=None if digits else "photo")
    if source == "digits":
        return _digits(digits or 3)
    if source == "draw":
        return _drawing(digits or 1)
    return _photo() if source == "photo" else _own()


def _digits_of(loaded: LoadedModel) -> int:
    """How many handwritten digits a model reads; 0 of a model that was made for photographs."""
    if not loaded.entry.shipped:
        return 0
    return 3 if loaded.model.config.is_encoder_decoder else 1


def _digits(most: int) -> ChosenPicture:
    left, right = st.columns([1, 1])
    with left:
        typed = widgets.text_box(
            choices.DIGITS,
            _("Digit") if most == 1 else _("Two or three digits"),
            usual="4" if most == 1 else "374",
            help=_("Pictures from the fifth of the data set that the models were not trained on."),
        )
    with right:
        hand = widgets.number_box(choices.HAND, _("Handwriting"))
    wanted = typed.strip()[:most]
    if not wanted.isascii() or not wanted.isdigit():
        raise Problem("Type digits from 0 to 9, between 1 and {most} of them", most=most)
    data = held_out_digits()
    places = [data.like(int(digit), int(hand) + at) for at, digit in enumerate(wanted)]
    return ChosenPicture(
        f"digits {' '.join(map(str, places))}", join_digits([data.pictures[place] for place in places])
    )


def _drawing(pads: int) -> ChosenPicture | None:
    drawings = link_state.value(choices.DRAWINGS)
    digit_pad.digit_pad(
        "pad",
        pads,
        drawings,
        lambda drawn: link_state.set_many({choices.DRAWINGS: drawn, choices.HIDDEN: (), choices.PINS: ()}),
    )
    inked = [each for each in map(digit_pad.unpack_bitmap, drawings[:pads]) if each is not None and each.any()]
    if not inked:
        _no_picture(
            _("Draw a digit above: the model reads it when you lift the pen.")
            if pads == 1
            else _("Draw two or three digits above, one in each field: the model reads them when you lift the pen.")
        )
        return None
    counts = [count_ink(each) for each in inked]
    name = hashlib.sha256(np.stack(counts).tobytes()).hexdigest()[:16]
    return ChosenPicture(f"drawing {name}", join_digits(counts), own=True)


def _photo() -> ChosenPicture:
    chosen = widgets.select_one(
        choices.PHOTO, _("Photograph"), {each.id: _(each.name) for each in SAMPLES}, label_visibility="collapsed"
    )
    shown = next(each for each in SAMPLES if each.id == chosen)
    st.caption(
        _("Photograph by {who}, {licence}, made smaller: {source}").format(
            who=escape_markdown(shown.by), licence=shown.licence, source=shown.source
        )
    )
    return ChosenPicture(f"photo {chosen}", sample(chosen).pixels)


def _own() -> ChosenPicture | None:
    file = st.file_uploader(
        _("PNG, JPEG or WebP, at most 5 MB and 4,096 pixels a side; or a view that you saved here with its picture"),
        type=["png", "jpg", "jpeg", "webp", "json"],
        key="pic-upload",
    )
    if file is not None and st.session_state.get(_OPENED) != upload_id(file):
        try:
            _take(file.getvalue(), file.name)
            st.session_state[_OPENED] = upload_id(file)
        except Problem as problem:  # the picture that was there before stays
            show_problem(problem)
    uploaded = st.session_state.get(_PHOTO)
    if uploaded is None:
        _no_picture(
            _("Your picture stays in this session's memory and disappears with it. It is not stored and is in no link.")
        )
        return None
    name, photo = uploaded
    for notice in photo.notices:
        st.caption(translate_markdown(notice))
    st.caption(_("A link cannot hold your picture: save the view with it as a file, below the heads."))
    return ChosenPicture(name, photo.pixels, own=True, file=photo.file)


def _no_picture(what_to_do: str) -> None:
    """Say what to do for a picture; the style keeps no place for one meanwhile."""
    with st.container(key="pic-none"):
        st.info(what_to_do)


def _take(data: bytes, name: str) -> None:
    """Make a file the picture on show; where it cannot be read, what was there before stays."""
    view = None
    if name.lower().endswith(".json"):
        view, data = _saved(data, name)
    with model_cache.wait_for_turn():  # a large one takes up to 300 MB while it is unpacked
        photo = read_photo(data, name)
    st.session_state[_PHOTO] = (f"own {hashlib.sha256(data).hexdigest()[:16]}", photo)
    if view is not None:
        link_state.open_view(view)


def _saved(data: bytes, name: str) -> tuple[str, bytes]:
    try:
        saved = json.loads(data)
        if saved["format"] != FORMAT:
            raise ValueError(saved["format"])
        return json.dumps(saved["view"]), b64decode(saved["picture"], validate=True)
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise Problem("{name} is not a view that was saved here with its picture", name=name[:80]) from error


def view_with_picture(file: bytes, view: str) -> str:
    """The view and its picture's file, as it came, in one file that this page opens again."""
    return json.dumps({"format": FORMAT, "view": json.loads(view), "picture": b64encode(file).decode()})


def ask_model() -> LoadedModel | None:
    """Draw the choice of a model: ours, those of the catalogue, any other of the hub's or in a folder.

    A visit that asks for nothing opens on one for photographs where this machine has it.
    None while the visitor has not agreed to load it.
    """
    states = sorted(
        (each for each in availabilities() if each.entry.kind == "pictures"),
        key=lambda each: (not each.on_this_machine, not each.entry.shipped),
    )
    entries = {each.entry.id: each.entry for each in states}
    photographs = [each.entry.id for each in states if each.on_this_machine and not each.entry.shipped]
    if photographs and link_state.is_default(choices.PAGE.page):
        link_state.set_value(choices.MODEL, photographs[0])
    name = sentence_input.ask_model(choices.MODEL, choices.HUB_ID, states, choices.OTHER_MODEL, usual="digit-vit")
    if name in entries:
        st.caption(_(entries[name].shows))
        return model_cache.get_model(name)
    if not name:
        raise Problem("Name a model: owner/name as on the hub, or a folder on this machine")
    return model_cache.get_model(name) if sentence_input.confirm_load(name) else None
