"""Runs of models that take a picture and text: generated answers, or scores of descriptions."""

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
    build_edits,
    visible_keys,
)

MOST_NEW_TOKENS = 8  #: tokens of an answer: each takes a forward pass
EditsFor = Callable[[int], Sequence[Edit]]  #: the edits of a pass over so many tokens


def run_prompted(loaded: LoadedModel, pixels: np.ndarray, question: str) -> PictureRun:
    """Run a model over a picture and a question: its answer, and the trace of the whole sequence."""
    prepared = prepare(loaded, pixels)
    prompted = prepare_prompt(loaded, prepared, question)
    inputs = {name: tensor.to(loaded.model.device) for name, tensor in prompted.inputs.items()}
    full_inputs, shares = write_answer(loaded, inputs, lambda _length: ())
    trace = capture(loaded.model, logits="last", **full_inputs)
    written = full_inputs["input_ids"][:, inputs["input_ids"].shape[1] :]
    return PictureRun(
        loaded.entry.id,
        loaded.name,
        prepared,
        trace,
        prompt_stacks(loaded, trace, prepared, prompted, full_inputs["input_ids"][0].cpu()),
        PictureAnswer(token_names(loaded, written[0]), shares),
        loaded.weights_are,
        written,
        inputs,
        prompt=prompted,
    )


def rerun_prompted(loaded: LoadedModel, run: PictureRun, change: HeadChange) -> tuple[PictureAnswer, Trace]:
    """Run it again under a change: patches are hidden from the vision layers and from words."""
    if not change:
        return run.answer, run.trace

    def edits(length: int) -> list[Edit]:
        return prompt_edits(loaded.model, run, change, length)

    full_inputs, shares = write_answer(loaded, run.inputs, edits)
    trace = intervene(loaded.model, edits(full_inputs["input_ids"].shape[1]), logits="last", **full_inputs)
    written = full_inputs["input_ids"][0, run.inputs["input_ids"].shape[1] :]
    return PictureAnswer(token_names(loaded, written), shares), trace


def write_answer(
    loaded: LoadedModel, inputs: dict[str, Any], edits_for: EditsFor
) -> tuple[dict[str, Any], tuple[float, ...]]:
    """Decode greedily: the inputs with the written tokens appended, and the probability of each."""
    eos_ids = getattr(getattr(loaded.model, "generation_config", None), "eos_token_id", None)  # one, several or none
    shares = []
    patch = image_token(loaded.model.config)
    for _ in range(MOST_NEW_TOKENS):
        edits = edits_for(inputs["input_ids"].shape[1])
        trace = intervene(loaded.model, edits, **inputs) if edits else capture(loaded.model, **inputs)
        assert trace.logits is not None
        logits = trace.logits.reshape(1, -1).float()
        logits[:, patch] = -torch.inf  # no answer holds a picture of its own
        likely, token = logits.softmax(-1).max(-1, keepdim=True)
        inputs = append_token(inputs, token)
        shares.append(float(likely))
        if int(token) in ({eos_ids} if isinstance(eos_ids, int) else eos_ids or ()):
            break
    return inputs, tuple(shares)


def prompt_stacks(
    loaded: LoadedModel, trace: Trace, prepared: PreparedPicture, prompted: PromptedPicture, ids: Tensor
) -> tuple[PatchStack, ...]:
    """Stacks of the words after the picture, and of the vision layers unless these merge patches.

    The keys of the words are reordered: other tokens first, then patches row by row.
    """
    others = torch.ones(len(ids), dtype=torch.bool)
    others[prompted.places] = False
    keys = torch.cat([others.nonzero()[:, 0], prompted.places])
    rows = torch.arange(prompted.after, len(ids))
    device = loaded.model.device
    text_layers = tuple(layer.cropped(rows.to(device), keys.to(device)) for layer in _text_layers(trace))
    grid = PatchGrid(
        prompted.grid.rows, prompted.grid.columns, special_names(token_names(loaded, ids[others])), prompted.grid.patch
    )
    stacks = [PatchStack("words", text_layers, grid, token_names(loaded, ids[rows]))]
    vision_layers = _vision_layers(trace)
    if merge_factor(loaded.model) == 1 and vision_layers:
        stacks.append(
            PatchStack("picture", vision_layers, find_grid(loaded.model, *prepared.size, vision_layers[0].shape[3]))
        )
    return tuple(stacks)


def _text_layers(trace: Trace) -> tuple[RecordedLayer, ...]:
    """Layers of the last tower, the text model. PaliGemma's has no causal mask, so `stack` does not identify it."""
    return tuple(layer for layer in trace.layers if layer.tower == trace.layers[-1].tower)


def _vision_layers(trace: Trace) -> tuple[RecordedLayer, ...]:
    first = trace.layers[0].tower
    return tuple(layer for layer in trace.layers if layer.tower == first != trace.layers[-1].tower)


def prompt_edits(model: Any, run: PictureRun, change: HeadChange, length: int) -> list[Edit]:
    """Edits for `intervene` that make a change in a pass over `length` tokens."""
    assert run.prompt is not None
    masks: dict[LayerKey, Tensor] = {}
    if change.hidden:
        for layer in _text_layers(run.trace):
            seen = extend_pattern(layer.mask[0, 0], length)
            seen[:, run.prompt.places[list(change.hidden)]] = False
            masks[layer.place] = seen
        for layer in _vision_layers(run.trace):
            masks[layer.place] = _visible_patches(model, layer.shape[3], run.prompt.grid, change.hidden)
    return build_edits(run, change, masks)


def extend_pattern(pattern: Tensor, length: int) -> Tensor:
    """Cut a mask (T, T) to `length` tokens, or extend it with causal rows."""
    length_before = len(pattern)
    if length <= length_before:
        return pattern[:length, :length].clone()
    extended = torch.ones(length, length, dtype=torch.bool, device=pattern.device).tril()
    extended[:length_before, :length_before] = pattern
    return extended


def _visible_patches(model: Any, tokens: int, grid: PatchGrid, hidden: Sequence[int]) -> Tensor:
    """Mask (1, K) of the vision layers: False at hidden patches, or at all patches merged into them."""
    times = merge_factor(model) ** 2
    if times == 1:
        first = tokens - grid.patches
        return visible_keys(PatchGrid(grid.rows, grid.columns, (special_names(("",))[0],) * first), hidden)
    seen = torch.ones(1, tokens, dtype=torch.bool)
    for patch in hidden:
        seen[0, patch * times : (patch + 1) * times] = False  # patches to be merged lie side by side
    return seen


def run_compared(loaded: LoadedModel, pixels: np.ndarray, descriptions: str) -> PictureRun:
    """Run both encoders over a picture and descriptions, which are separated by commas."""
    names = tuple(description.strip() for description in descriptions.split(",") if description.strip())
    prepared = prepare(loaded, pixels)
    encoded = encode_descriptions(loaded, names)
    inputs: dict[str, Any] = {
        name: tensor.to(loaded.model.device) for name, tensor in (prepared.inputs | encoded).items()
    }
    trace, fits = compare_descriptions(loaded.model, inputs)
    vision_layers = tuple(layer for layer in trace.layers if layer.tower.startswith("vision"))
    text_layers = tuple(layer for layer in trace.layers if not layer.tower.startswith("vision"))
    if not vision_layers:
        raise Problem("{name} has no layer whose tokens are patches of the whole picture", name=loaded.name)
    return PictureRun(
        loaded.entry.id,
        loaded.name,
        prepared,
        trace,
        (PatchStack("picture", vision_layers, find_grid(loaded.model, *prepared.size, vision_layers[0].shape[3])),),
        best_description(loaded.model, names, fits),
        loaded.weights_are,
        inputs=inputs,
        texts=TextEncoder(names, tuple(token_names(loaded, row) for row in encoded["input_ids"]), text_layers),
    )


def compare_descriptions(model: Any, inputs: dict[str, Any], edits: Sequence[Edit] = ()) -> tuple[Trace, Tensor]:
    """Trace of both encoders, and a logit (N,) for each description."""
    outputs: list[Any] = []
    hook = model.register_forward_hook(lambda _module, _inputs, output: outputs.append(output))
    try:
        trace = intervene(model, edits, logits=None, **inputs) if edits else capture(model, logits=None, **inputs)
    finally:
        hook.remove()
    fits: Tensor = outputs[-1].logits_per_image[0].float().cpu()
    return trace, fits


def best_description(model: Any, names: tuple[str, ...], fits: Tensor) -> PictureAnswer:
    """Answer with the best description, and the probabilities of all."""
    shares = fits.sigmoid() if scores_independently(model) else fits.softmax(-1)
    others = tuple((names[at], float(shares[at])) for at in shares.argsort(descending=True).tolist())
    return PictureAnswer((others[0][0],), (others[0][1],), others)
