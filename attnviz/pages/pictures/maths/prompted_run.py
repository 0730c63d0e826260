"""A picture among words: which words look at which patches, in models that are given both and write an answer."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnviz.base.message import Problem
from attnviz.models.capture import Edit, LayerKey, RecordedLayer, Trace, capture, intervene
from attnviz.models.catalogue import LoadedModel
from attnviz.models.pictures import (
    PatchGrid,
    PreparedPicture,
    PromptedPicture,
    append_token,
    encode_descriptions,
    find_grid,
    image_token,
    merge_factor,
    prepare,
    prepare_prompt,
    scores_independently,
    special_names,
    token_names,
)
from attnviz.pages.pictures.maths.picture_record import (
    HeadChange,
    PatchStack,
    PictureAnswer,
    PictureRun,
    TextEncoder,
    visible_keys,
    window_edits,
)

MOST_WRITTEN = 8  #: tokens of an answer: each costs a pass
EditsFor = Callable[[int], Sequence[Edit]]  #: the edits of a pass over so many tokens


def run_prompted(loaded: LoadedModel, pixels: np.ndarray, words: str) -> PictureRun:
    """The picture and a visitor's words through the model, and what it writes, with the pass over all of it."""
    prepared = prepare(loaded, pixels)
    given = prepare_prompt(loaded, prepared, words)
    inputs = {name: each.to(loaded.model.device) for name, each in given.inputs.items()}
    whole, shares = write_answer(loaded, inputs, lambda _length: ())
    trace = capture(loaded.model, logits="last", **whole)
    written = whole["input_ids"][:, inputs["input_ids"].shape[1] :]
    return PictureRun(
        loaded.entry.id,
        loaded.name,
        prepared,
        trace,
        prompt_stacks(loaded, trace, prepared, given, whole["input_ids"][0].cpu()),
        PictureAnswer(token_names(loaded, written[0]), shares),
        loaded.weights_are,
        written,
        inputs,
        prompt=given,
    )


def rerun_prompted(loaded: LoadedModel, run: PictureRun, change: HeadChange) -> tuple[PictureAnswer, Trace]:
    """What the model writes when patches are hidden in the tower and from the words, heads silenced or scaled."""
    if not change:
        return run.answer, run.trace

    def edits(length: int) -> list[Edit]:
        return prompt_edits(loaded.model, run, change, length)

    whole, shares = write_answer(loaded, run.inputs, edits)
    trace = intervene(loaded.model, edits(whole["input_ids"].shape[1]), logits="last", **whole)
    written = whole["input_ids"][0, run.inputs["input_ids"].shape[1] :]
    return PictureAnswer(token_names(loaded, written), shares), trace


def write_answer(
    loaded: LoadedModel, inputs: dict[str, Any], edits_for: EditsFor
) -> tuple[dict[str, Any], tuple[float, ...]]:
    """The inputs with what the model writes after them, always the likeliest token, and how likely each was."""
    ends = getattr(getattr(loaded.model, "generation_config", None), "eos_token_id", None)  # one, several or none
    shares = []
    patch = image_token(loaded.model.config)
    for _ in range(MOST_WRITTEN):
        edits = edits_for(inputs["input_ids"].shape[1])
        trace = intervene(loaded.model, edits, **inputs) if edits else capture(loaded.model, **inputs)
        assert trace.logits is not None
        logits = trace.logits.reshape(1, -1).float()
        logits[:, patch] = -torch.inf  # no answer holds a picture of its own
        likely, token = logits.softmax(-1).max(-1, keepdim=True)
        inputs = append_token(inputs, token)
        shares.append(float(likely))
        if int(token) in ({ends} if isinstance(ends, int) else ends or ()):
            break
    return inputs, tuple(shares)


def prompt_stacks(
    loaded: LoadedModel, trace: Trace, prepared: PreparedPicture, given: PromptedPicture, ids: Tensor
) -> tuple[PatchStack, ...]:
    """Layers in which the words after the picture look at it; then those of the vision tower, where patches are whole.

    The keys of the first are put in another order: all that is no patch, then the patches row by row.
    """
    others = torch.ones(len(ids), dtype=torch.bool)
    others[given.places] = False
    keys = torch.cat([others.nonzero()[:, 0], given.places])
    rows = torch.arange(given.after, len(ids))
    device = loaded.model.device
    looking = tuple(layer.cropped(rows.to(device), keys.to(device)) for layer in _of_words(trace))
    grid = PatchGrid(
        given.grid.rows, given.grid.columns, special_names(token_names(loaded, ids[others])), given.grid.patch
    )
    stacks = [PatchStack("words", looking, grid, token_names(loaded, ids[rows]))]
    tower = _of_patches(trace)
    if merge_factor(loaded.model) == 1 and tower:
        stacks.append(PatchStack("picture", tower, find_grid(loaded.model, *prepared.size, tower[0].shape[3])))
    return tuple(stacks)


def _of_words(trace: Trace) -> tuple[RecordedLayer, ...]:
    """The layers of the tower that runs last: PaliGemma's words see each other like an encoder's, so no stack tells."""
    return tuple(layer for layer in trace.layers if layer.tower == trace.layers[-1].tower)


def _of_patches(trace: Trace) -> tuple[RecordedLayer, ...]:
    first = trace.layers[0].tower
    return tuple(layer for layer in trace.layers if layer.tower == first != trace.layers[-1].tower)


def prompt_edits(model: Any, run: PictureRun, change: HeadChange, length: int) -> list[Edit]:
    """The change as `intervene` takes it, for a pass over `length` tokens."""
    assert run.prompt is not None
    masks: dict[LayerKey, Tensor] = {}
    if change.hidden:
        for layer in _of_words(run.trace):
            seen = extend_pattern(layer.mask[0, 0], length)
            seen[:, run.prompt.places[list(change.hidden)]] = False
            masks[layer.place] = seen
        for layer in _of_patches(run.trace):
            masks[layer.place] = _seen_patches(model, layer.shape[3], run.prompt.grid, change.hidden)
    return window_edits(run, change, masks)


def extend_pattern(pattern: Tensor, length: int) -> Tensor:
    """A pattern (T, T) for another number of tokens: its beginning, or with tokens that see all that was before."""
    have = len(pattern)
    if length <= have:
        return pattern[:length, :length].clone()
    whole = torch.ones(length, length, dtype=torch.bool, device=pattern.device).tril()
    whole[:have, :have] = pattern
    return whole


def _seen_patches(model: Any, tokens: int, grid: PatchGrid, hidden: Sequence[int]) -> Tensor:
    """(1, K) for the vision tower: the hidden patches, or all those that were merged into them."""
    times = merge_factor(model) ** 2
    if times == 1:
        first = tokens - grid.patches
        return visible_keys(PatchGrid(grid.rows, grid.columns, (special_names(("",))[0],) * first), hidden)
    seen = torch.ones(1, tokens, dtype=torch.bool)
    for patch in hidden:
        seen[0, patch * times : (patch + 1) * times] = False  # patches to be merged lie side by side
    return seen


def run_compared(loaded: LoadedModel, pixels: np.ndarray, words: str) -> PictureRun:
    """The picture and each description, one to a comma, through the towers."""
    names = tuple(each.strip() for each in words.split(",") if each.strip())
    prepared = prepare(loaded, pixels)
    given = encode_descriptions(loaded, names)
    inputs: dict[str, Any] = {name: each.to(loaded.model.device) for name, each in (prepared.inputs | given).items()}
    trace, fits = compare_descriptions(loaded.model, inputs)
    eyes = tuple(layer for layer in trace.layers if layer.tower.startswith("vision"))
    reading = tuple(layer for layer in trace.layers if not layer.tower.startswith("vision"))
    if not eyes:
        raise Problem("{name} has no layer whose tokens are patches of the whole picture", name=loaded.name)
    return PictureRun(
        loaded.entry.id,
        loaded.name,
        prepared,
        trace,
        (PatchStack("picture", eyes, find_grid(loaded.model, *prepared.size, eyes[0].shape[3])),),
        best_description(loaded.model, names, fits),
        loaded.weights_are,
        inputs=inputs,
        texts=TextEncoder(names, tuple(token_names(loaded, row) for row in given["input_ids"]), reading),
    )


def compare_descriptions(model: Any, inputs: dict[str, Any], edits: Sequence[Edit] = ()) -> tuple[Trace, Tensor]:
    """A pass through both towers, and how well the picture fits each description, (N,)."""
    kept: list[Any] = []
    hook = model.register_forward_hook(lambda _module, _given, output: kept.append(output))
    try:
        trace = intervene(model, edits, logits=None, **inputs) if edits else capture(model, logits=None, **inputs)
    finally:
        hook.remove()
    fits: Tensor = kept[-1].logits_per_image[0].float().cpu()
    return trace, fits


def best_description(model: Any, names: tuple[str, ...], fits: Tensor) -> PictureAnswer:
    """The description that fits best, and the probability of each."""
    shares = fits.sigmoid() if scores_independently(model) else fits.softmax(-1)
    others = tuple((names[at], float(shares[at])) for at in shares.argsort(descending=True).tolist())
    return PictureAnswer((others[0][0],), (others[0][1],), others)
