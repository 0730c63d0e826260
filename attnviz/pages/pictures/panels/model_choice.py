"""Which model reads the picture: ours, those of the catalogue, or any other of the hub's or in a folder."""

from __future__ import annotations

import streamlit as st

from attnviz.app import consent, widgets
from attnviz.app.cache import model_cache
from attnviz.base.message import Problem
from attnviz.base.words import _
from attnviz.models.catalogue import LoadedModel
from attnviz.models.loading import availabilities
from attnviz.models.settings import current
from attnviz.pages.pictures import choices


def ask() -> LoadedModel | None:
    """Draw the choice; answer the model, or None while the visitor has not agreed to load it."""
    states = {found.entry.id: found for found in availabilities() if found.entry.kind == "pictures"}
    order = sorted(states, key=lambda name: (not states[name].on_this_machine, not states[name].entry.shipped))
    options = {}
    for name in order:
        entry = states[name].entry
        here = _("{name} (download {size} MB)").format(name=entry.name, size=entry.download_mb)
        options[name] = states[name].name if states[name].on_this_machine else here
    if not current().hosted:
        options[choices.OTHER_MODEL] = _("another model…")
    chosen = widgets.one_of(choices.MODEL, _("Model"), options, usual="digit-vit", style="select")
    if chosen in states:
        st.caption(_(states[chosen].entry.shows))
        return model_cache.model(chosen)
    typed = widgets.text(choices.HUB_ID, _("Hub id or folder"), placeholder="owner/name").strip()
    if not typed:
        raise Problem("Name a model: owner/name as on the hub, or a folder on this machine")
    return model_cache.model(typed) if consent.given(typed) else None
