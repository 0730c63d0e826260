"""Caches of runs over pictures and of results computed from them, and the scene that the canvas draws.

Results of packaged pictures are shared by all visitors. A visitor's own picture is cached in the session only, one at a
time.
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
from attnviz.canvas.patch_view import PatchChoices, PatchOrder, PatchScene
from attnviz.models.catalogue import LoadedModel
from attnviz.pages.pictures.maths.patch_measures import HeadMaps, find_sinks, head_maps, mean_weights, picture_rollout
from attnviz.pages.pictures.maths.picture_record import HeadChange, PatchStack, PictureRun
from attnviz.pages.pictures.maths.picture_run import run_picture

T = TypeVar("T")
LIMITS = 160 * 10**6, 48 * 10**6  #: bytes of runs, and of what is computed from them: neither pushes the other out
MOST_CELLS = 400_000  #: of all heads' scores, from which on only the head on show is sent
SMALL = 64  #: pixels; a smaller picture is drawn with hard edges
_OWN_CACHES = "_pictures_of_ones_own"


@dataclass(frozen=True, eq=False)
class ChosenPicture:
    """The selected picture: its pixels and name; an uploaded one with its file."""

    name: str
    pixels: np.ndarray
    is_own: bool = False
    file: bytes = b""
    question: str = ""  #: question or descriptions for models that take text

    @property
    def cache_key(self) -> tuple[str, str]:
        """Name and question: the key of its runs."""
        return self.name, self.question


PictureCaches = tuple[BoundedCache[Any], BoundedCache[Any]]  #: of runs, and of what is computed from them


def _new_caches() -> PictureCaches:
    runs, results = LIMITS
    return BoundedCache(runs, count_bytes), BoundedCache(results, count_bytes)


_shared_caches = _new_caches()


def picture_run(loaded: LoadedModel, picture: ChosenPicture) -> PictureRun:
    """Run of a model over a picture, cached."""
    name = (loaded.entry.id, loaded.version, picture.cache_key)
    make = partial(_wait_and_make, lambda: run_picture(loaded, picture.pixels, picture.question))
    run: PictureRun = _caches(picture)[0].get(name, make)
    return run


def run_result(
    loaded: LoadedModel, picture: ChosenPicture, key: Hashable, make: Callable[[], T], reruns: bool = False
) -> T:
    """Cached result of `make`; `reruns`: it runs the model, so it waits for its turn."""
    name = (loaded.entry.id, loaded.version, picture.cache_key, key)
    result: T = _caches(picture)[1].get(name, partial(_wait_and_make, make) if reruns else make)
    return result


def head_maps_of_run(loaded: LoadedModel, picture: ChosenPicture, stack: PatchStack) -> HeadMaps:
    """Measures and small maps of all heads, without a change."""
    return run_result(loaded, picture, ("maps", stack.id), partial(head_maps, stack))


def find_result(loaded: LoadedModel, picture: ChosenPicture, key: Hashable) -> Any:
    """Result cached under this key, or None."""
    return _caches(picture)[1].find((loaded.entry.id, loaded.version, picture.cache_key, key))


def _wait_and_make(make: Callable[[], T]) -> T:
    with model_cache.wait_for_turn():
        return make()


def _caches(picture: ChosenPicture) -> PictureCaches:
    """Shared caches, or for a visitor's own picture those of the session, which hold one picture."""
    if not picture.is_own:
        return _shared_caches
    if st.session_state.get(_OWN_CACHES, (None,))[0] != picture.cache_key:
        st.session_state[_OWN_CACHES] = (picture.cache_key, _new_caches())
    caches: PictureCaches = st.session_state[_OWN_CACHES][1]
    return caches


def patch_scene(
    loaded: LoadedModel, picture: ChosenPicture, run: PictureRun, stack: PatchStack, change: HeadChange, order: str
) -> PatchScene:
    """Scene of a stack for the canvas, with the head of `change` selected.

    Heads are ordered by their measures without the change, so that none moves while patches are hidden.
    """
    _id, layer, head = change.head
    height, width = run.prepared.size
    data, kind = run_result(loaded, picture, "bytes", partial(_encode_picture, run.prepared.pixels))
    maps = head_maps_of_run(loaded, picture, stack)
    sends_all_heads = (
        sum(layer_record.n_heads * layer_record.shape[2] * layer_record.shape[3] for layer_record in stack.layers)
        <= MOST_CELLS
    )
    changed_maps = (
        maps if sends_all_heads or not change else _compute_with_change(loaded, picture, stack, change, head_maps)
    )
    sent, among = (
        (stack.layers, slice(None)) if sends_all_heads else (stack.layers[layer : layer + 1], slice(head, head + 1))
    )
    head_key = None if sends_all_heads else (layer, head)
    bits: Literal[16, 32] = 16 if sends_all_heads else 32
    heads = run_result(
        loaded, picture, ("raw", stack.id, head_key), lambda: raw_scores.pack(tuple(raw_heads(sent)[among]), bits)
    )
    measure = {"distance": maps.distance, "entropy": maps.entropy, "class": maps.class_weight}.get(order)
    grid = stack.grid
    return PatchScene(
        data,
        kind,
        (width, height),
        (grid.rows, grid.columns, grid.first),
        tuple(translate_message(name) for name in grid.special),
        stack.query_tokens or None,
        tuple(layer_record.n_heads for layer_record in stack.layers),
        np.stack([changed_maps.mean, changed_maps.default_row]),
        heads,
        sends_all_heads,
        _compute_with_change(loaded, picture, stack, change, mean_weights),
        None if stack.query_tokens else _compute_with_change(loaded, picture, stack, change, picture_rollout)[layer],
        measure,
        () if measure is None else _measure_texts(measure, order),
        run_result(loaded, picture, ("sinks", stack.id, layer), partial(find_sinks, stack, layer)),
        max(width, height) > SMALL,
        stack.windows,
        stack.default_query,
        orders=existing_orders(stack),
    )


def existing_orders(stack: PatchStack) -> tuple[PatchOrder, ...]:
    """What the heads of a stack can be ordered by."""
    measures: tuple[PatchOrder, ...] = ("place",) if stack.query_tokens else ("place", "distance")
    return (*measures, "entropy", "class") if stack.grid.has_class else (*measures, "entropy")


def displayed_change(stack: PatchStack, chosen: PatchChoices) -> HeadChange:
    """Change of the displayed weights: hidden patches of this stack's grid, and the scale of the selected head."""
    return HeadChange(chosen.hidden, factor=chosen.factor, head=(stack.id, chosen.layer, chosen.head))


def _compute_with_change(
    loaded: LoadedModel,
    picture: ChosenPicture,
    stack: PatchStack,
    change: HeadChange,
    compute: Callable[[PatchStack, HeadChange], T],
) -> T:
    """Cached result of `compute` on a stack under a change."""
    key = (compute.__name__, stack.id, change.hidden, change if change.factor != 1.0 else None)
    return run_result(loaded, picture, key, partial(compute, stack, change))


def _encode_picture(pixels: np.ndarray) -> tuple[bytes, str]:
    """Encode a picture as a file with its MIME type: PNG if small, JPEG if large."""
    out, kind = BytesIO(), "png" if max(pixels.shape[:2]) <= SMALL else "jpeg"
    Image.fromarray(pixels).save(out, kind, quality=88)
    return out.getvalue(), f"image/{kind}"


def _measure_texts(values: np.ndarray, order: str) -> tuple[str, ...]:
    """Hover text of each head: the measure that heads are ordered by."""
    templates = {
        "distance": _("looks {value} pixels far"),
        "entropy": _("spreads over {value} of what it could"),
        "class": _("gives {value} to the class token"),
    }
    digits = ".1f" if order == "distance" else ".0%"
    texts = (f"{value:{digits}}" if np.isfinite(value) else "–" for value in values)
    return tuple(templates[order].format(value=value) for value in texts)
