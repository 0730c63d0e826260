"""Before a folder of this machine or any model of the hub is loaded, the visitor of this session says yes.

A link names a model, and anyone may have written the link. The yes is kept in the session and in no link.
"""

from __future__ import annotations

from typing import Final

import streamlit as st

from attnviz.app.guarding import guard
from attnviz.app.text import plain
from attnviz.base.message import Problem
from attnviz.base.words import _
from attnviz.models.catalogue import Entry
from attnviz.models.loading import Availability, availability, bytes_on_disk, bytes_on_hub

_AGREED: Final = "_models_agreed_to"
_SIZES: Final = "_sizes_asked_for"
MEGABYTE: Final = 10**6


def given(name: str) -> bool:
    """Whether a model may be loaded for this visitor; where he is still to be asked, the question is drawn."""
    found = availability(name)
    if found.entry.in_catalogue or found.entry.id in _agreed():
        return True
    if found.source is None:
        raise Problem(
            "{name} is not on this machine, and downloading from the hub is switched off", name=found.entry.name
        )
    with st.container(border=True):
        st.markdown(_question(found))
        with st.container(horizontal=True):
            st.button(_("Load it"), key="agree", type="primary", on_click=_agree, args=(found.entry,))
            if found.source == "hub" and found.entry.id not in _sizes():
                st.button(_("Ask the hub for its size"), key="ask-size", on_click=_ask_size, args=(found.entry,))
    return False


def _question(found: Availability) -> str:
    name = plain(found.entry.id)
    size = _sizes().get(found.entry.id) if found.source == "hub" else bytes_on_disk(found)
    megabytes = "" if size is None else f"{size / MEGABYTE:,.1f}"
    if found.source != "hub" and megabytes:
        return _("Load the model in {name} on this machine? Its weights are {size} MB.").format(
            name=name, size=megabytes
        )
    if found.source != "hub":
        return _("Load the model in {name} on this machine?").format(name=name)
    if megabytes:
        return _("Download {name} from the hub? Its weights are {size} MB.").format(name=name, size=megabytes)
    return _("Download {name} from the hub? How large it is, only the hub knows.").format(name=name)


def _agree(entry: Entry) -> None:
    st.session_state[_AGREED] = _agreed() | {entry.id}


def _ask_size(entry: Entry) -> None:
    with guard():
        st.session_state[_SIZES] = _sizes() | {entry.id: bytes_on_hub(entry)}


def _agreed() -> frozenset[str]:
    return frozenset(st.session_state.get(_AGREED, ()))


def _sizes() -> dict[str, int]:
    return dict(st.session_state.get(_SIZES, {}))
