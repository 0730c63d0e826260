"""Runs of models over pictures, and what is computed from them, as the canvas draws it.

Those of shipped pictures are shared by all visitors. A visitor's own picture is never kept: its run lies in the
session, one at a time, and goes with it.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from typing import Any, Literal, TypeVar

import numpy as np
import streamlit as st
from PIL import Image

from attnviz.analysis.head_matrix import raw_heads
from attnviz.app.cache import model_cache
from attnviz.app.cache.bounded_cache import BoundedCache, count_bytes
from attnviz.base import raw_scores
from attnviz.base.words import _, translate_message
from attnviz.canvas.patch_view import PatchChoices, PatchScene
from attnviz.models.catalogue import LoadedModel
from attnviz.pages.pictures.maths.patch_measures import HeadMaps, find_sinks, head_maps, mean_weights, picture_rollout
from attnviz.pages.pictures.maths.picture_record import HeadChange, PatchStack, PictureRun
from attnviz.pages.pictures.maths.picture_run import run_picture

T = TypeVar("T")
LIMITS = 160 * 10**6, 48 * 10**6  #: bytes of runs, and of what is computed from them: neither pushes the other out
MOST_CELLS = 400_000  #: of all heads' scores, from which on only the head on show is sent
SMALL = 64  #: pixels; a smaller picture is drawn with hard edges
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


PictureCaches = tuple[BoundedCache[Any], BoundedCache[Any]]  #: of runs, and of what is computed from them


def _new_caches() -> PictureCaches:
    runs, results = LIMITS
    return BoundedCache(runs, count_bytes), BoundedCache(results, count_bytes)


_shared = _new_caches()


def picture_run(loaded: LoadedModel, picture: ChosenPicture) -> PictureRun:
    """The run of a model over a picture, made once."""
    name = (loaded.entry.id, loaded.version, picture.about)
    make = partial(_in_turn, lambda: run_picture(loaded, picture.pixels, picture.asked))
    run: PictureRun = _caches(picture)[0].get(name, make)
    return run


def run_result(
    loaded: LoadedModel, picture: ChosenPicture, key: Hashable, make: Callable[[], T], reruns: bool = False
) -> T:
    """What is computed from a run, made once; `reruns`: the model runs again for it, so it waits for its turn."""
    name = (loaded.entry.id, loaded.version, picture.about, key)
    made: T = _caches(picture)[1].get(name, partial(_in_turn, make) if reruns else make)
    return made


def head_maps_of_run(loaded: LoadedModel, picture: ChosenPicture, stack: PatchStack) -> HeadMaps:
    """The measures and small maps of all heads, without a change."""
    return run_result(loaded, picture, ("maps", stack.id), partial(head_maps, stack))


def find(loaded: LoadedModel, picture: ChosenPicture, key: Hashable) -> Any:
    """What `of_run` keeps under this key, or None."""
    return _caches(picture)[1].find((loaded.entry.id, loaded.version, picture.about, key))


def _in_turn(make: Callable[[], T]) -> T:
    with model_cache.wait_for_turn():
        return make()


def _caches(picture: ChosenPicture) -> PictureCaches:
    """Those of all visitors; for a picture of one's own the session's, in which it takes the place of any other."""
    if not picture.own:
        return _shared
    if st.session_state.get(_OWN, (None,))[0] != picture.about:
        st.session_state[_OWN] = (picture.about, _new_caches())
    own: PictureCaches = st.session_state[_OWN][1]
    return own


def patch_scene(
    loaded: LoadedModel, picture: ChosenPicture, run: PictureRun, stack: PatchStack, change: HeadChange, order: str
) -> PatchScene:
    """All that is drawn of a stack with the head of `change` on show.

    Heads are ordered, and measured, by what they are without the change: none jumps while patches are painted over.
    """
    _id, layer, head = change.head
    height, width = run.prepared.size
    data, kind = run_result(loaded, picture, "bytes", partial(_encoded, run.prepared.pixels))
    maps = head_maps_of_run(loaded, picture, stack)
    every = sum(each.n_heads * each.shape[2] * each.shape[3] for each in stack.layers) <= MOST_CELLS
    drawn = maps if every or not change else _under(loaded, picture, stack, change, head_maps)
    sent, among = (stack.layers, slice(None)) if every else (stack.layers[layer : layer + 1], slice(head, head + 1))
    part = None if every else (layer, head)
    bits: Literal[16, 32] = 16 if every else 32
    heads = run_result(
        loaded, picture, ("raw", stack.id, part), lambda: raw_scores.pack(tuple(raw_heads(sent)[among]), bits)
    )
    measure = {"distance": maps.distance, "entropy": maps.entropy, "class": maps.on_class}.get(order)
    grid = stack.grid
    return PatchScene(
        data,
        kind,
        (width, height),
        (grid.rows, grid.columns, grid.first),
        tuple(translate_message(each) for each in grid.special),
        stack.words or None,
        tuple(each.n_heads for each in stack.layers),
        np.stack([drawn.mean, drawn.usual]),
        heads,
        every,
        _under(loaded, picture, stack, change, mean_weights),
        None if stack.words else _under(loaded, picture, stack, change, picture_rollout)[layer],
        measure,
        () if measure is None else _measure_texts(measure, order),
        order != "place",
        run_result(loaded, picture, ("sinks", stack.id, layer), partial(find_sinks, stack, layer)),
        max(width, height) > SMALL,
        stack.windows,
        stack.usual,
    )


def displayed_change(stack: PatchStack, chosen: PatchChoices) -> HeadChange:
    """What is changed in the weights on show: patches of this stack's grid hidden, the scale of the head on show."""
    return HeadChange(chosen.hidden, factor=chosen.factor, head=(stack.id, chosen.layer, chosen.head))


def _under(
    loaded: LoadedModel,
    picture: ChosenPicture,
    stack: PatchStack,
    change: HeadChange,
    made: Callable[[PatchStack, HeadChange], T],
) -> T:
    """What is made of a stack under a change, once; without any it is the same for whatever head is on show."""
    key = (made.__name__, stack.id, change.hidden, change if change.factor != 1.0 else None)
    return run_result(loaded, picture, key, partial(made, stack, change))


def _encoded(shown: np.ndarray) -> tuple[bytes, str]:
    """A picture as a file: exact where it is small, as JPEG where it is large."""
    out, kind = BytesIO(), "png" if max(shown.shape[:2]) <= SMALL else "jpeg"
    Image.fromarray(shown).save(out, kind, quality=88)
    return out.getvalue(), f"image/{kind}"


def _measure_texts(values: np.ndarray, order: str) -> tuple[str, ...]:
    """What is said of each head when it is pointed at: the measure that heads are ordered by."""
    templates = {
        "distance": _("looks {value} pixels far"),
        "entropy": _("spreads over {value} of what it could"),
        "class": _("gives {value} to the class token"),
    }
    digits = ".1f" if order == "distance" else ".0%"
    shown = (f"{value:{digits}}" if np.isfinite(value) else "–" for value in values)
    return tuple(templates[order].format(value=value) for value in shown)
