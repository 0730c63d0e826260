"""A run and what is computed from it, as the canvas draws it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from io import BytesIO
from typing import TypeVar

import numpy as np
from PIL import Image

from attnviz.base.raw_scores import RawHead
from attnviz.base.words import _, say
from attnviz.canvas.patch_view import PatchChoices, PatchScene
from attnviz.models.catalogue import LoadedModel
from attnviz.pages.pictures.maths.patch_measures import (
    HeadMaps,
    PatchMeasure,
    head_maps,
    mean_of_layers,
    rolled_out,
    sinks,
)
from attnviz.pages.pictures.maths.picture_record import HeadChange, PatchStack, PictureRun
from attnviz.pages.pictures.panels import picture_cache
from attnviz.pages.pictures.panels.picture_cache import ChosenPicture
from attnviz.runs.raw_heads import raw_heads_of

T = TypeVar("T")
MOST_CELLS = 400_000  #: of all heads' scores, from which on only the head on show is sent
SMALL = 64  #: pixels; a smaller picture is drawn with hard edges


def scene(
    loaded: LoadedModel, picture: ChosenPicture, run: PictureRun, stack: PatchStack, change: HeadChange, order: str
) -> PatchScene:
    """All that is drawn of a stack with the head of `change` on show.

    Heads are ordered, and measured, by what they are without the change: none jumps while patches are painted over.
    """
    _id, layer, head = change.head
    at = layer, head
    height, width = run.prepared.size
    data, kind = picture_cache.of_run(loaded, picture, "bytes", partial(_encoded, run.prepared.shown))
    maps: HeadMaps = picture_cache.of_run(loaded, picture, ("maps", stack.id), partial(head_maps, stack))
    cells = sum(each.n_heads * each.shape[2] * each.shape[3] for each in stack.layers)
    every = cells <= MOST_CELLS
    drawn = maps if every or not change else _under(loaded, picture, stack, change, head_maps)
    raw = partial(_raw, stack, None if every else at)
    heads = picture_cache.of_run(loaded, picture, ("raw", stack.id, None if every else at), raw)
    measure = None if order == "place" else maps.by(order_of(order))
    grid = stack.grid
    return PatchScene(
        data,
        kind,
        (width, height),
        (grid.rows, grid.columns, grid.first),
        tuple(say(each) for each in grid.special),
        stack.words or None,
        tuple(each.n_heads for each in stack.layers),
        np.stack([drawn.mean, drawn.usual]),
        heads,
        every,
        _under(loaded, picture, stack, change, mean_of_layers),
        None if stack.words else _under(loaded, picture, stack, change, rolled_out)[layer],
        measure,
        _told(maps, order),
        order != "place",
        picture_cache.of_run(loaded, picture, ("sinks", stack.id, layer), partial(sinks, stack, layer)),
        max(width, height) > SMALL,
        stack.windows,
        stack.usual,
    )


def shown_under(stack: PatchStack, chosen: PatchChoices) -> HeadChange:
    """What is changed in the weights on show: patches of this stack's grid hidden, the scale of the head on show."""
    return HeadChange(chosen.hidden, factor=chosen.factor, head=(stack.id, chosen.layer, chosen.head))


def order_of(order: str) -> PatchMeasure:
    """The measure that an order is by."""
    names: dict[str, PatchMeasure] = {"distance": "distance", "entropy": "entropy", "class": "class"}
    return names[order]


def _under(
    loaded: LoadedModel,
    picture: ChosenPicture,
    stack: PatchStack,
    change: HeadChange,
    made: Callable[[PatchStack, HeadChange], T],
) -> T:
    """What is made of a stack under a change, once; without any it is the same for whatever head is on show."""
    key = (made.__name__, stack.id, change.hidden, change if change.factor != 1.0 else None)
    return picture_cache.of_run(loaded, picture, key, partial(made, stack, change))


def _raw(stack: PatchStack, at: tuple[int, int] | None) -> tuple[RawHead, ...]:
    if at is None:
        return tuple(raw_heads_of(stack.layers))
    return (raw_heads_of([stack.layers[at[0]]])[at[1]],)


def _encoded(shown: np.ndarray) -> tuple[bytes, str]:
    """A picture as a file: exact where it is small, as JPEG where it is large."""
    out = BytesIO()
    if max(shown.shape[:2]) <= SMALL:
        Image.fromarray(shown).save(out, "PNG")
        return out.getvalue(), "image/png"
    Image.fromarray(shown).save(out, "JPEG", quality=88)
    return out.getvalue(), "image/jpeg"


def _told(maps: HeadMaps, order: str) -> tuple[str, ...]:
    """What is said of each head when it is pointed at: the measure that heads are ordered by."""
    if order == "place":
        return ()
    templates = {
        "distance": _("looks {value} pixels far"),
        "entropy": _("spreads over {value} of what it could"),
        "class": _("gives {value} to the class token"),
    }
    values = maps.by(order_of(order))
    return tuple(templates[order].format(value=_value(value, order)) for value in values)


def _value(value: float, order: str) -> str:
    if not np.isfinite(value):
        return "–"
    return f"{value:.1f}" if order == "distance" else f"{value:.0%}"
