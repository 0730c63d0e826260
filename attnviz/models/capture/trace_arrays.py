"""The weights of a trace as tables, as one labelled array, and as their mean over several prompts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from attnviz.base.message import Message, Problem, Several
from attnviz.models.capture.head_selection import wide
from attnviz.models.capture.recorded_layer import RecordedLayer

if TYPE_CHECKING:
    import xarray

AXES = ("layer", "batch", "head", "query", "key")
MEAN = Message("these are mean weights over several prompts")
KEPT = ("stack", "kind", "index", "name", "tower", "run")  #: fields of a layer that its mean keeps


def weight_rows(number: int, layer: RecordedLayer, head: int | None) -> dict[str, object]:
    """The columns of a table of weights, a row for each of one layer."""
    first = 0 if head is None else head % layer.n_heads
    weights = layer.weights(head).detach().float().cpu()  # (B, H', Q, K)
    batch, heads, queries, keys = torch.meshgrid(*(torch.arange(size) for size in weights.shape), indexing="ij")
    return {
        "layer": number,
        "name": layer.name,
        "batch": batch.flatten().numpy(),
        "head": (heads.flatten() + first).numpy(),
        "query": queries.flatten().numpy(),
        "key": keys.flatten().numpy(),
        "weight": weights.flatten().numpy(),
    }


def weight_array(numbers: Sequence[int], layers: Sequence[RecordedLayer], tokens: Sequence[Any]) -> xarray.DataArray:
    """The weights of these layers as one array with names; a Problem where they differ in shape."""
    try:
        import xarray  # here because nothing else needs it
    except ModuleNotFoundError as missing:
        raise Problem("an array with names needs xarray, which is not installed: pip install xarray") from missing
    shapes = {layer.shape for layer in layers}
    if len(shapes) != 1:
        raise Problem("the layers have weights of different shapes: {shapes}", shapes=Several(sorted(shapes)))
    weights = torch.stack([layer.weights().detach().float().cpu() for layer in layers])
    named: dict[str, Any] = {"layer": list(numbers), "name": ("layer", [layer.name for layer in layers])}
    rows = [tokens] if tokens and isinstance(tokens[0], str) else tokens
    batch, _, *lengths = layers[0].shape
    for axis, length in zip(AXES[3:], lengths, strict=True):
        if len(rows) == batch and all(len(row) == length for row in rows):
            named[f"{axis}_token"] = (("batch", axis), [list(row) for row in rows])
    return xarray.DataArray(weights.numpy(), named, AXES, "weight")


def mean_layer(layer: RecordedLayer, aligned: Mapping[str, int | Sequence[int]] | None) -> RecordedLayer:
    """The layer with the mean weights (1, H, Q, K) of all rows, everywhere or at what stands at `aligned` positions."""
    weights = wide(layer.weights().detach())
    if aligned is None:
        if layer.padding is not None:
            raise Problem("the prompts differ in length: say what stands where in each, as aligned")
        mean = weights.mean(0, keepdim=True)
    else:
        rows = torch.arange(len(weights), device=weights.device)[:, None, None]
        places = _places(aligned, len(weights), layer.shape[2]).to(weights.device)
        mean = weights[rows, :, places[:, :, None], places[:, None, :]].mean(0).permute(2, 0, 1)[None]
    kept = {each.name: getattr(layer, each.name) for each in fields(layer) if each.name in KEPT}
    return RecordedLayer(**kept, scale=float("nan"), reported=mean, why=MEAN)


def _places(aligned: Mapping[str, int | Sequence[int]], rows: int, length: int) -> Tensor:
    """(B, P), the position of each thing that is named in each row."""
    columns = [[at] * rows if isinstance(at, int) else list(at) for at in aligned.values()]
    for name, column in zip(aligned, columns, strict=True):
        if len(column) != rows or not all(-length <= each < length for each in column):
            raise Problem(
                "aligned: {name} is at {places}; it must be at one of {length} positions in each of {rows} prompts",
                name=name,
                places=str(column),
                length=length,
                rows=rows,
            )
    return torch.tensor(columns).T


def shared_labels(tokens: Sequence[Any]) -> tuple[str, ...]:
    """The labels that all rows share, with … in the place of the others."""
    if not tokens or isinstance(tokens[0], str):
        return tuple(tokens)
    return tuple(names[0] if len(set(names)) == 1 else "…" for names in zip(*tokens, strict=True))
