"""Runs of models over pictures. Those of shipped pictures are shared by all visitors.

A visitor's own picture is never kept: its run lies in the session, one at a time, and goes with it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import streamlit as st

from attnviz.app.cache import model_cache
from attnviz.app.cache.bounded_cache import BoundedCache, held_bytes
from attnviz.models.catalogue import LoadedModel
from attnviz.pages.pictures.maths.picture_record import PictureRun
from attnviz.pages.pictures.maths.picture_run import run_picture

T = TypeVar("T")
RUNS_LIMIT = 160 * 10**6  # bytes
RESULTS_LIMIT = 48 * 10**6
_OWN = "_pictures_of_ones_own"


@dataclass(frozen=True, eq=False)
class ChosenPicture:
    """Pixels, a name for them, and whether they are a visitor's own: an uploaded one with its file."""

    name: str
    pixels: np.ndarray
    own: bool = False
    file: bytes = b""
    asked: str = ""  #: what a model of pictures and words is asked of it

    @property
    def about(self) -> tuple[str, str]:
        """What tells its runs apart from those of others."""
        return self.name, self.asked


_runs: BoundedCache[PictureRun] = BoundedCache(RUNS_LIMIT, held_bytes)
_results: BoundedCache[Any] = BoundedCache(RESULTS_LIMIT, held_bytes)


def picture_run(loaded: LoadedModel, picture: ChosenPicture) -> PictureRun:
    """The run of a model over a picture, made once."""

    def make() -> PictureRun:
        with model_cache.turn():
            return run_picture(loaded, picture.pixels, picture.asked)

    return _kept(_runs, (loaded.entry.id, loaded.version, picture.about), picture, make)


def of_run(
    loaded: LoadedModel, picture: ChosenPicture, key: Hashable, make: Callable[[], T], reruns: bool = False
) -> T:
    """What is computed from a run, made once; `reruns`: the model runs again for it, so it waits for its turn."""

    def in_turn() -> T:
        with model_cache.turn():
            return make()

    name = (loaded.entry.id, loaded.version, picture.about, key)
    return _kept(_results, name, picture, in_turn if reruns else make)


def found(loaded: LoadedModel, picture: ChosenPicture, key: Hashable) -> Any:
    """What `of_run` keeps under this key, or None."""
    name = (loaded.entry.id, loaded.version, picture.about, key)
    return _mine(picture).get(name) if picture.own else _results.find(name)


def keep(loaded: LoadedModel, picture: ChosenPicture, key: Hashable, value: T) -> T:
    """Keep a result that was made elsewhere."""
    return of_run(loaded, picture, key, lambda: value)


def _kept(cache: BoundedCache[Any], name: Hashable, picture: ChosenPicture, make: Callable[[], T]) -> T:
    if not picture.own:
        shared: T = cache.get(name, make)
        return shared
    mine = _mine(picture)
    if name not in mine:
        mine[name] = make()
    own: T = mine[name]
    return own


def _mine(picture: ChosenPicture) -> dict[Hashable, Any]:
    """What was computed of this picture; results for any other picture are dropped."""
    held = st.session_state.get(_OWN)
    if held is None or held[0] != picture.about:
        held = (picture.about, {})
        st.session_state[_OWN] = held
    kept: dict[Hashable, Any] = held[1]
    return kept
