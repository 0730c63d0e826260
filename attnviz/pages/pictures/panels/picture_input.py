"""The choice of a picture: held-out digits, a drawing, a packaged photograph, or a visitor's own."""

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
from attnviz.canvas import patch_view
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

_PHOTO, _UPLOAD_ID = "_own_picture", "_own_picture_opened"
FORMAT = "attnviz picture 1"
EMPTY = "drawing"  #: name of the picture before anything is drawn


def draw_form(loaded: LoadedModel) -> ChosenPicture | None:
    """Draw the form; the selected picture with its question, or None while there is none."""
    picture = _choose_picture(count_digits(loaded))
    if picture is None:
        return None
    if takes_text(loaded.model):
        question = widgets.text_box(choices.QUESTION, _("Question"), help=_("The words that look at the picture."))
    elif has_two_encoders(loaded.model):
        question = widgets.text_box(
            choices.DESCRIPTIONS,
            _("Descriptions to compare it with"),
            help=_("The model says how well each fits the picture. Put a comma between them."),
        )
    else:
        return picture
    return replace(picture, question=question.strip())


def _choose_picture(digits: int) -> ChosenPicture | None:
    """Draw the controls for a picture. `digits`: how many the model reads; 0: any picture."""
    sources = {"digits": _("Digits"), "draw": _("Draw"), "photo": _("Photographs"), "own": _("Your own")}
    if digits and link_state.value(choices.SOURCE) != "photo":  # a link may still ask for one
        del sources["photo"]
    source = widgets.select_one(choices.SOURCE, _("Picture"), sources, usual=None if digits else "photo")
    if source == "digits":
        return _draw_digits(digits or 3)
    if source == "draw":
        return drawn_picture(digits or 1)
    return _draw_photos() if source == "photo" else _draw_upload()


def count_digits(loaded: LoadedModel) -> int:
    """Number of handwritten digits that a model reads; 0 for a model of photographs."""
    if not loaded.entry.shipped:
        return 0
    return 3 if loaded.model.config.is_encoder_decoder else 1


def _draw_digits(most: int) -> ChosenPicture:
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
    digits = typed.strip()[:most]
    if not digits.isascii() or not digits.isdigit():
        raise Problem("Type digits from 0 to 9, between 1 and {most} of them", most=most)
    data = held_out_digits()
    places = [data.like(int(digit), int(hand) + at) for at, digit in enumerate(digits)]
    return ChosenPicture(
        f"digits {' '.join(map(str, places))}", join_digits([data.pictures[index] for index in places])
    )


def drawn_picture(pads: int) -> ChosenPicture:
    """Picture of the drawn digits, side by side; an empty one before anything is drawn."""
    bitmaps = map(patch_view.unpack_bitmap, link_state.value(choices.DRAWINGS)[:pads])
    counts = [count_ink(bitmap) for bitmap in bitmaps if bitmap is not None and bitmap.any()]
    if not counts:
        return ChosenPicture(EMPTY, join_digits([np.zeros((8, 8), np.uint8)]))
    name = hashlib.sha256(np.stack(counts).tobytes()).hexdigest()[:16]
    return ChosenPicture(f"drawing {name}", join_digits(counts), is_own=True)


def _draw_photos() -> ChosenPicture:
    chosen = widgets.select_one(
        choices.PHOTO, _("Photograph"), {photo.id: _(photo.name) for photo in SAMPLES}, label_visibility="collapsed"
    )
    shipped = next(photo for photo in SAMPLES if photo.id == chosen)
    st.caption(
        _("Photograph by {who}, {licence}, made smaller: {source}").format(
            who=escape_markdown(shipped.by), licence=shipped.licence, source=shipped.source
        )
    )
    return ChosenPicture(f"photo {chosen}", sample(chosen).pixels)


def _draw_upload() -> ChosenPicture | None:
    file = st.file_uploader(
        _("PNG, JPEG or WebP, at most 5 MB and 4,096 pixels a side; or a view that you saved here with its picture"),
        type=["png", "jpg", "jpeg", "webp", "json"],
        key="pic-upload",
    )
    if file is not None and st.session_state.get(_UPLOAD_ID) != upload_id(file):
        try:
            _open_file(file.getvalue(), file.name)
            st.session_state[_UPLOAD_ID] = upload_id(file)
        except Problem as problem:  # the picture that was there before stays
            show_problem(problem)
    uploaded = st.session_state.get(_PHOTO)
    if uploaded is None:
        _ask_for_picture(
            _("Your picture stays in this session's memory and disappears with it. It is not stored and is in no link.")
        )
        return None
    name, photo = uploaded
    for notice in photo.notices:
        st.caption(translate_markdown(notice))
    st.caption(_("A link cannot hold your picture: save the view with it as a file, below the heads."))
    return ChosenPicture(name, photo.pixels, is_own=True, file=photo.file)


def _ask_for_picture(what_to_do: str) -> None:
    """Draw a hint that asks for a picture; the style hides the empty view by its key."""
    with st.container(key="pic-none"):
        st.info(what_to_do)


def _open_file(data: bytes, name: str) -> None:
    """Open an uploaded file as the current picture. Problem if it cannot be read; the old one stays."""
    view = None
    if name.lower().endswith(".json"):
        view, data = _read_saved_view(data, name)
    with model_cache.wait_for_turn():  # a large one takes up to 300 MB while it is unpacked
        photo = read_photo(data, name)
    st.session_state[_PHOTO] = (f"own {hashlib.sha256(data).hexdigest()[:16]}", photo)
    if view is not None:
        link_state.open_view(view)


def _read_saved_view(data: bytes, name: str) -> tuple[str, bytes]:
    try:
        saved = json.loads(data)
        if saved["format"] != FORMAT:
            raise ValueError(saved["format"])
        return json.dumps(saved["view"]), b64decode(saved["picture"], validate=True)
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise Problem("{name} is not a view that was saved here with its picture", name=name[:80]) from error


def view_with_picture(file: bytes, view: str) -> str:
    """JSON file with the view and the picture's file, which this page can open."""
    return json.dumps({"format": FORMAT, "view": json.loads(view), "picture": b64encode(file).decode()})


def ask_model() -> LoadedModel | None:
    """Draw the choice of a model: packaged, in the catalogue, on the hub or in a folder.

    Without a link, a model of photographs is selected if this machine has one. None until the visitor agrees to
    load it.
    """
    states = sorted(
        (state for state in availabilities() if state.entry.kind == "pictures"),
        key=lambda state: (not state.on_this_machine, not state.entry.shipped),
    )
    entries = {state.entry.id: state.entry for state in states}
    photographs = [state.entry.id for state in states if state.on_this_machine and not state.entry.shipped]
    if photographs and link_state.is_default(choices.PAGE.page):
        link_state.set_value(choices.MODEL, photographs[0])
    name = sentence_input.ask_model(choices.MODEL, choices.HUB_ID, states, choices.OTHER_MODEL, usual="digit-vit")
    if name in entries:
        st.caption(_(entries[name].shows))
        return model_cache.get_model(name)
    if not name:
        raise Problem("Name a model: owner/name as on the hub, or a folder on this machine")
    return model_cache.get_model(name) if sentence_input.confirm_load(name) else None
