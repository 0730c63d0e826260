"""The cost of removing each head: how much the loss on a data set rises without it."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from attnviz.analysis.heads.batches import Batch, batch_inputs, find_token_ids, split_batch, torch_module
from attnviz.analysis.heads.scan import GrowingScores, HeadPositions, HeadScores, scan
from attnviz.analysis.prepared_files import pack_file, read_path
from attnviz.base.message import Problem
from attnviz.models.capture import RecordedLayer, ResumedPass, capture
from attnviz.models.catalogue import LoadedModel
from attnviz.models.file_faults import write_whole

TOKENS_AT_ONCE = 1024  #: so many positions go through the upper layers as one batch
SENTENCES_TOKENS = 128  #: so many positions of sentences are finished, and kept, before the next ones are begun


def head_costs(
    model: nn.Module | LoadedModel,
    batches: Iterable[Batch] | Batch,
    means: Mapping[str, Tensor] | None = None,
    tokenizer: Any = None,
    keep: Path | str | None = None,
) -> Iterator[HeadScores]:
    """Yield the costs so far after every batch, for each sentence and head, in nats per token:

    - "silenced": how much the loss of the next token rises when the head hands on 0;
    - "mean": how much it rises when its mean does so instead, with `means` as `mean_outputs` makes them;
    - "direct": what the head itself adds to the logit of the right next token, above the average logit.

    With `keep`, a file holds what is done, and a later run on the same model and batches goes on from there.
    """
    yield from (scores for scores in cost_steps(model, batches, means, tokenizer, keep) if scores is not None)


def cost_steps(
    model: nn.Module | LoadedModel,
    batches: Iterable[Batch] | Batch,
    means: Mapping[str, Tensor] | None = None,
    tokenizer: Any = None,
    keep: Path | str | None = None,
) -> Iterator[HeadScores | None]:
    """The same in small steps, so that a caller can show progress and stop.

    Yields None after each layer, the costs after each batch.
    """
    module = torch_module(model)
    cost_file, growing = CostFile(keep, module, means), GrowingScores()
    for inputs in batch_inputs(model, batches, tokenizer):
        for chunk in split_batch(inputs, SENTENCES_TOKENS):
            costs = cost_file.find(chunk)
            if costs is None:
                costs = yield from _measure_batch(module, chunk, means)
                cost_file.add(chunk, costs)
            growing.add(*costs)
            yield growing.so_far()
    growing.so_far()  # a Problem where there was no sentence


def _measure_batch(
    model: nn.Module, inputs: dict[str, Any], means: Mapping[str, Tensor] | None
) -> Generator[None, None, OfBatch]:
    """Positions, layer names and cost of each head in each sentence, (B, N); yields None after each layer."""
    started = ResumedPass(model, **inputs)
    ids, real = targets(inputs)
    assert started.trace.logits is not None
    base = _loss(started.trace.logits, ids, real)
    layers = started.trace.layers
    places = tuple((number, head) for number, layer in enumerate(layers) for head in range(layer.n_heads))
    names = tuple(layers[number].name for number, _ in places)
    kinds = {"silenced": None} if means is None else {"silenced": None, "mean": means}
    rises: dict[str, list[Tensor]] = {name: [] for name in kinds}
    for number in range(len(layers)):
        for name, replacement in kinds.items():
            rises[name].append(costs_in_layer(started, number, base, ids, real, replacement))
            yield None
    costs = {name: torch.cat(parts, 1) for name, parts in rises.items()}
    costs["direct"] = _direct_effects(started, ids, real)
    return places, names, {name: value.double().cpu().numpy() for name, value in costs.items()}


def costs_in_layer(
    started: ResumedPass,
    number: int,
    base: Tensor,
    ids: Tensor,
    real: Tensor,
    means: Mapping[str, Tensor] | None = None,
) -> Tensor:
    """How much the loss of each sentence rises above `base` (B,) without each head of one layer, (B, H)."""
    layer, parts = started.trace.layers[number], []
    mean = None if means is None else means[layer.name][:, 0]
    count = min(layer.n_heads, -(-layer.n_heads * ids.numel() // TOKENS_AT_ONCE))
    for heads in np.array_split(np.arange(layer.n_heads), count):  # in equal parts of about TOKENS_AT_ONCE positions
        without = started.ablated_logits(number, heads.tolist(), mean)  # (n, B, Q, V)
        parts.append(torch.stack([_loss(logits, ids, real) - base for logits in without], 1))
    return torch.cat(parts, 1)


def targets(inputs: dict[str, Any]) -> tuple[Tensor, Tensor]:
    """Token ids (B, Q), and at which positions a next token is there to be guessed, (B, Q - 1)."""
    ids = find_token_ids(inputs)
    if ids is None or ids.shape[1] < 2:
        raise Problem("the cost of a head is measured on the next token: give input_ids of two tokens at least")
    mask = inputs.get("attention_mask")
    real = torch.ones_like(ids) if not isinstance(mask, Tensor) else mask
    return ids, (real[:, 1:] * real[:, :-1]).bool()


def _loss(logits: Tensor, ids: Tensor, real: Tensor) -> Tensor:
    """Mean loss of the next token in each sentence, (B,)."""
    scores = logits[:, :-1].float()
    right = scores.gather(-1, ids[:, 1:, None])[..., 0]
    return torch.where(real, scores.logsumexp(-1) - right, 0.0).sum(1) / real.sum(1).clamp_min(1)


def _direct_effects(started: ResumedPass, ids: Tensor, real: Tensor) -> Tensor:
    """Direct effect of each head on the right logit less the mean logit, mean over positions, (B, N)."""
    rows = started.path.unembedding.float() * started.path.factor
    at = torch.arange(ids.shape[1] - 1, device=ids.device).expand(len(ids), -1)
    ways = started.stream.find_directions(rows[ids[:, 1:]] - rows.mean(0), at).heads  # (B, Q - 1, M) each
    parts = []
    for layer, (direction, _) in zip(started.trace.layers, ways, strict=True):
        through = torch.einsum("bqm,hmd->bqhd", direction, layer.w_o_by_head)  # (B, Q - 1, H, Dv)
        added = (layer.head_outputs()[:, :, :-1].transpose(1, 2) * through).sum(-1)  # (B, Q - 1, H)
        added = torch.where(real[..., None], added, 0.0)
        parts.append(added.sum(1) / real.sum(1, keepdim=True).clamp_min(1))
    return torch.cat(parts, 1)


OfBatch = tuple[HeadPositions, tuple[str, ...], dict[str, np.ndarray]]


class CostFile:
    """A file of costs by batch, valid for one model; without a path nothing is stored."""

    def __init__(self, path: Path | str | None, model: nn.Module, means: Mapping[str, Tensor] | None) -> None:
        self._path = None if path is None else Path(path)
        self._key = "" if path is None else _fingerprint(model, means)
        self._costs = self._read()

    def find(self, inputs: dict[str, Any]) -> OfBatch | None:
        """The stored costs of these sentences; None if they were not measured before."""
        return self._costs.get(_digest(inputs)) if self._costs else None

    def add(self, inputs: dict[str, Any], costs: OfBatch) -> None:
        """Store the costs of these sentences in the file, if there is one."""
        path = self._path
        if path is None:
            return
        self._costs[_digest(inputs)] = costs
        places, names, kinds = costs
        header = {"key": self._key, "places": places, "names": names, "kinds": list(kinds), "done": list(self._costs)}
        arrays = {
            f"{kind} {key}": value
            for key, (_, _, batch_costs) in self._costs.items()
            for kind, value in batch_costs.items()
        }
        write_whole(path, pack_file(header, arrays))

    def _read(self) -> dict[str, OfBatch]:
        header, arrays = (self._path and read_path(self._path)) or ({}, {})
        if header.get("key") != self._key:
            return {}  # another model's, half a file, or none: what it would hold is computed again
        places, names = tuple((layer, head) for layer, head in header["places"]), tuple(header["names"])
        return {
            key: (places, names, {kind: arrays[f"{kind} {key}"] for kind in header["kinds"]}) for key in header["done"]
        }


def _fingerprint(model: nn.Module, means: Mapping[str, Tensor] | None) -> str:
    """Hash of a model and its means: names, shapes and sums of all numbers."""
    with torch.no_grad():
        sums = {name: value.sum(dtype=torch.float64) for name, value in model.state_dict().items()}
    return _digest(sums | {f"mean of {name}": value for name, value in (means or {}).items()})


def _digest(inputs: Mapping[str, Any]) -> str:
    """Hash of all tensors among the inputs."""
    digest = hashlib.sha256()
    for name in sorted(name for name, value in inputs.items() if isinstance(value, Tensor)):
        value = inputs[name].detach().cpu().contiguous()
        digest.update(f"{name} {value.dtype} {tuple(value.shape)} ".encode() + value.numpy().tobytes())
    return digest.hexdigest()[:24]


#: of one batch: layer name, the sum over real positions (H, Dv), and how many there were; once for each run of a layer
HeadSums = list[tuple[str, Tensor, int]]


def mean_outputs(
    model: nn.Module | LoadedModel, batches: Iterable[Batch] | Batch, tokenizer: Any = None, truncate: bool = False
) -> dict[str, Tensor]:
    """Layer name -> (H, 1, Dv): the mean over all real positions of all sentences, for `Edit(output=...)`.

    `batches`, `truncate`: as in `find_heads`. A layer that runs several times in a pass has one mean over all its runs.
    """
    return mean_from_sums(output_sums(model, batches, tokenizer, truncate))


def output_sums(
    model: nn.Module | LoadedModel, batches: Iterable[Batch] | Batch, tokenizer: Any = None, truncate: bool = False
) -> Iterator[HeadSums]:
    """For each batch the sums that its mean is made of."""
    for inputs in batch_inputs(model, batches, tokenizer, truncate):
        yield [(layer.name, *_sum(layer)) for layer in capture(torch_module(model), logits=None, **inputs)]


def mean_from_sums(batches: Iterable[HeadSums]) -> dict[str, Tensor]:
    """Layer name -> (H, 1, Dv) from the sums of all batches, added in their order."""
    sums: dict[str, Tensor] = {}
    counts: dict[str, int] = {}
    for batch in batches:
        for name, total, count in batch:
            sums[name] = sums.get(name, 0) + total
            counts[name] = counts.get(name, 0) + count
    if not sums:
        raise Problem("there is no sentence to look at")
    return {name: (total / counts[name])[:, None] for name, total in sums.items()}


def _sum(layer: RecordedLayer) -> tuple[Tensor, int]:
    """The sum over real positions, (H, Dv), and their number."""
    outputs = layer.head_outputs()  # (B, H, Q, Dv)
    real = layer.real_queries  # (B or 1, 1, Q) or None
    if real is None:
        return outputs.sum((0, 2)), outputs.shape[0] * outputs.shape[2]
    real = real.expand(outputs.shape[0], 1, -1)
    return torch.where(real[..., None], outputs, 0.0).sum((0, 2)), int(real.sum())


class HeadWork(Protocol):
    """Measurements of heads over many sentences, in this process by default; engines override them.

    Every implementation gives the same numbers. All yield in steps, None where a step has no result yet.
    """

    def scan(
        self, loaded: LoadedModel, sentences: Sequence[str], patterns: Sequence[str]
    ) -> Iterator[HeadScores | None]:
        """The scores of all heads so far, after some sentences and at the end after all of them."""
        return scan(loaded, list(sentences), patterns)

    def mean_steps(self, loaded: LoadedModel, sentences: Sequence[str]) -> Iterator[dict[str, Tensor] | None]:
        """Mean output of each head over these sentences, as the last step."""
        yield mean_outputs(loaded, list(sentences))

    def cost_steps(
        self, loaded: LoadedModel, sentences: Sequence[str], means: Mapping[str, Tensor] | None = None
    ) -> Iterator[HeadScores | None]:
        """The costs of all heads so far, after some sentences."""
        return cost_steps(loaded, list(sentences), means)


class HeadsHere(HeadWork):
    """Measure heads in this process."""


HERE: Final = HeadsHere()
