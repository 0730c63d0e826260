"""A smallest set of patches that keeps the answer, found on request."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from attnviz.app.cache import model_cache
from attnviz.app.links import link_state
from attnviz.app.text import spoken
from attnviz.base.words import _
from attnviz.models.catalogue import LoadedModel
from attnviz.pages.pictures import choices
from attnviz.pages.pictures.maths.patch_measures import head_maps
from attnviz.pages.pictures.maths.picture_record import PictureRun
from attnviz.pages.pictures.maths.smallest_patches import SmallestSet, smallest_set
from attnviz.pages.pictures.panels import picture_cache
from attnviz.pages.pictures.panels.picture_cache import ChosenPicture

_KEY = "smallest"


def draw(loaded: LoadedModel, picture: ChosenPicture, run: PictureRun) -> None:
    """The button, the search as it goes on, and its result."""
    if not run.answer.words or not run.can_change:
        return
    found: SmallestSet | None = picture_cache.found(loaded, picture, _KEY)
    place = st.empty()
    asked = found is None and place.button(
        _("Find a smallest set of patches that keeps the answer"), key="smallest", icon=":material/compress:"
    )
    if asked:
        for part in _search(loaded, picture, run):
            place.caption(_("{count} of {of} patches left").format(count=len(part.kept), of=part.of))
            found = part
        assert found is not None
        picture_cache.keep(loaded, picture, _KEY, found)
    if found is not None:
        with place.container(horizontal=True, vertical_alignment="center"):
            st.markdown(spoken(found.told), width="stretch")
            st.button(
                _("Hide all the others"),
                key="smallest-show",
                on_click=_show,
                args=(found,),
                icon=":material/visibility:",
            )


def _search(loaded: LoadedModel, picture: ChosenPicture, run: PictureRun):  # type: ignore[no-untyped-def]
    """Each step waits for a turn of its own, so that a long search lets others in between."""
    steps = smallest_set(loaded, run, _least_telling_first(loaded, picture, run))
    while True:
        with model_cache.turn():
            part = next(steps, None)
        if part is None:
            return
        yield part


def _least_telling_first(loaded: LoadedModel, picture: ChosenPicture, run: PictureRun) -> list[int]:
    """Patches in the order in which they are tried: first what all heads, or their class token, look at least."""
    stack = run.stack("words")
    maps = picture_cache.of_run(loaded, picture, ("maps", stack.id), partial(head_maps, stack))
    rows = maps.usual if stack.grid.has_class and not stack.words else maps.mean
    return [int(patch) for patch in np.argsort(rows[:, stack.grid.first :].mean(0), kind="stable")]


def _show(found: SmallestSet) -> None:
    link_state.put(choices.HIDDEN, found.hidden)
