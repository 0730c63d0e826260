"""A picture compared with descriptions by a model of two towers (CLIP, SigLIP), and where both towers look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from torch import Tensor

from attnviz.core.message import Problem
from attnviz.experiments.pictures.picture_record import PatchStack, PictureAnswer, PictureRun, TextTower
from attnviz.models.capture import Edit, Trace, capture, intervene
from attnviz.models.catalogue import LoadedModel
from attnviz.models.pictures import descriptions, grid_of, prepare, says_each_alone, token_names


def run_compared(loaded: LoadedModel, pixels: np.ndarray, words: str) -> PictureRun:
    """The picture and each description, one to a comma, through the towers."""
    names = tuple(each.strip() for each in words.split(",") if each.strip())
    prepared = prepare(loaded, pixels)
    given = descriptions(loaded, names)
    inputs: dict[str, Any] = {name: each.to(loaded.model.device) for name, each in (prepared.inputs | given).items()}
    trace, fits = compared(loaded.model, inputs)
    eyes = tuple(layer for layer in trace.layers if layer.tower.startswith("vision"))
    reading = tuple(layer for layer in trace.layers if not layer.tower.startswith("vision"))
    if not eyes:
        raise Problem("{name} has no layer whose tokens are patches of the whole picture", name=loaded.name)
    grid = grid_of(loaded.model, *prepared.size, eyes[0].shape[3])
    tokens = tuple(token_names(loaded, row) for row in given["input_ids"])
    return PictureRun(
        loaded.entry.id,
        loaded.name,
        prepared,
        trace,
        (PatchStack("picture", eyes, grid),),
        answer_of_names(loaded.model, names, fits),
        loaded.weights_are,
        inputs=inputs,
        texts=TextTower(names, tokens, reading),
    )


def compared(model: Any, inputs: dict[str, Any], edits: Sequence[Edit] = ()) -> tuple[Trace, Tensor]:
    """A pass through both towers, and how well the picture fits each description, (N,)."""
    kept: list[Any] = []
    hook = model.register_forward_hook(lambda _module, _given, output: kept.append(output))
    try:
        trace = intervene(model, edits, logits=None, **inputs) if edits else capture(model, logits=None, **inputs)
    finally:
        hook.remove()
    fits: Tensor = kept[-1].logits_per_image[0].float().cpu()
    return trace, fits


def answer_of_names(model: Any, names: tuple[str, ...], fits: Tensor) -> PictureAnswer:
    """The description that fits best, and the probability of each."""
    shares = fits.sigmoid() if says_each_alone(model) else fits.softmax(-1)
    order = shares.argsort(descending=True).tolist()
    others = tuple((names[at], float(shares[at])) for at in order)
    return PictureAnswer((others[0][0],), (others[0][1],), others)
