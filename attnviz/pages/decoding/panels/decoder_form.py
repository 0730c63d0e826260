"""The controls that the sections share: which decoder writes, a trained one or the core's small one."""

from __future__ import annotations

import streamlit as st

from attnviz.app import widgets
from attnviz.app.cache import model_cache
from attnviz.base.words import _
from attnviz.models.architecture import Architecture, CustomShape
from attnviz.models.loading import availabilities, version
from attnviz.pages.decoding import choices
from attnviz.pages.decoding.maths import decoders


def names() -> dict[str, str]:
    """Decoders on this machine, and the small one that is always there."""
    here = {
        s.entry.id: s.entry.name_from(s.source)
        for s in availabilities()
        if s.on_this_machine and s.entry.kind == "decoder"
    }
    return here | {decoders.CORE: _("a small one of this app’s core, random weights")}


def choose() -> str:
    """Draw the choice; returns the id of the decoder."""
    return widgets.one_of(choices.MODEL, _("Decoder"), names(), style="select")


def choose_with_text() -> tuple[str, str]:
    """Draw the choice and the text that the decoder reads; returns its id and the text."""
    which, words = st.columns([1.2, 3])
    with which:
        name = choose()
    with words:
        text = widgets.text_area(choices.TEXT, _("Text: the first half is the prompt"), height=96)
    return name, text


def decoder_of(name: str) -> decoders.Decoder:
    """The decoder of that id; a model that is not in memory is loaded while the visitor watches."""
    if name == decoders.CORE:
        return core_decoder(0)
    return decoders.ModelDecoder(model_cache.model(name))


@st.cache_resource(max_entries=4, show_spinner=False)
def core_decoder(seed: int) -> decoders.CoreDecoder:
    return decoders.CoreDecoder(seed)


def architecture_of(name: str) -> Architecture:
    """The shape of the decoder of that id."""
    decoder = decoder_of(name)
    if isinstance(decoder, decoders.ModelDecoder):
        return decoder.architecture()
    layout = decoders.CORE_LAYOUT
    shape = CustomShape(
        decoders.CORE_LAYERS, layout.d_model, layout.n_heads, layout.kv_heads, layout.qk_width, d_ff=3 * layout.d_model
    )
    return shape.architecture(decoder.name)


def identity(name: str) -> tuple[str, str]:
    """What a decoder is known by in caches: its id, and the state of its files."""
    return name, "" if name == decoders.CORE else version(name)
