"""Generate text one token at a time with a cache, with the attention of each step; predictions as probabilities."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from attnviz.base.message import Problem
from attnviz.core.measures import total_variation
from attnviz.models.capture.adapter import takes_interface
from attnviz.models.capture.adapter_check import must_hold
from attnviz.models.capture.edit import Edit
from attnviz.models.capture.edited_layer import EditedPass
from attnviz.models.capture.forward_pass import has_two_stacks, unwrapped
from attnviz.models.capture.recorded_layer import RecordedLayer
from attnviz.models.capture.recorder import Recorder
from attnviz.models.capture.run import record
from attnviz.models.capture.trace import Trace

Choose = Callable[[Tensor], int]


@dataclass(frozen=True, eq=False)
class GenerationStep:
    """One pass: the first processes the whole prompt, each later one the token that the previous step chose."""

    trace: Trace  #: its queries are the tokens of this pass, its keys all tokens so far
    token: int  #: id of the token chosen from trace.logits
    probability: float  #: the model's probability of that token, before temperature and top-k


def sampler(temperature: float = 0.0, top_k: int | None = None, seed: int = 0) -> Choose:
    """A function that chooses a token from logits (V,), V being the size of the vocabulary.

    It takes the most likely token at temperature 0, otherwise a random one; the same seed repeats its choices.
    """
    source = torch.Generator().manual_seed(seed)

    def choose(logits: Tensor) -> int:
        chances = probabilities(logits, temperature, top_k).cpu()
        return int(torch.multinomial(chances, 1, generator=source))

    return choose


def generate(
    model: nn.Module,
    steps: int,
    *,
    choose: Choose | None = None,
    stop: Collection[int] = (),
    edits: Sequence[Edit] = (),
    **inputs: Any,
) -> Iterator[GenerationStep]:
    """Yield up to `steps` passes as they are made; stop early once a token in `stop` is chosen.

    Takes one sentence without padding. All steps share one buffer of keys and values, so that n steps keep
    n positions instead of about n squared. Encoder-decoder models encode the source once and also need
    `decoder_input_ids`.
    """
    model = unwrapped(model)
    two_stacks = has_two_stacks(model)
    name = "decoder_input_ids" if two_stacks else "input_ids"
    _check(model, inputs, name)
    choose = choose or sampler()
    given = {key: value for key, value in inputs.items() if two_stacks or key != "attention_mask"}
    buffers: dict[int, _Buffer] = {}
    norms: dict[Any, Tensor] = {}
    for _ in range(steps):
        changes = EditedPass(model, tuple(edits))
        recorder = Recorder(model, change=changes.changed)
        recorder.earlier_norms = norms
        trace, output = record(model, recorder, "last", {**given, "use_cache": True})
        changes.must_have_met_all()
        shared = (buffers.setdefault(n, _Buffer(layer, steps)).keep(layer) for n, layer in enumerate(trace.layers))
        trace = replace(trace, layers=tuple(shared) if not two_stacks else trace.layers)
        norms = {la.place: la.norms for la in trace.layers if la.norms is not None}
        assert trace.logits is not None
        token = choose(trace.logits[0])
        yield GenerationStep(trace, token, float(probabilities(trace.logits[0])[token]))
        if token in stop:
            return
        given[name] = torch.tensor([[token]], device=trace.logits.device)
        given["past_key_values"] = output.past_key_values
        if two_stacks:
            given.pop("input_ids", None)
            given["encoder_outputs"] = (output.encoder_last_hidden_state,)


@dataclass(frozen=True)
class Guess:
    """A token and the probability that the model gives it."""

    token: int
    probability: float


@dataclass(frozen=True)
class Moved:
    """A token's probability before and after something was changed."""

    token: int
    before: float
    after: float


def probabilities(logits: Tensor, temperature: float = 1.0, top_k: int | None = None) -> Tensor:
    """Logits (..., V) as probabilities. Temperature 0 gives the best token everything; `top_k` keeps the best few."""
    if not temperature >= 0 or temperature == float("inf"):
        raise Problem("temperature={temperature} must be 0 or a positive number", temperature=temperature)
    if top_k is not None and top_k < 1:
        raise Problem("top_k={top_k} must be at least 1", top_k=top_k)
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))
    if temperature == 0:
        best = wide.argmax(-1, keepdim=True)
        return torch.zeros_like(wide).scatter(-1, best, 1.0)
    if top_k is not None and top_k < wide.shape[-1]:
        kept = wide.topk(top_k, -1)
        wide = torch.full_like(wide, -torch.inf).scatter(-1, kept.indices, kept.values)
    return ((wide - wide.amax(-1, keepdim=True)) / temperature).softmax(-1)


def guesses(logits: Tensor, n: int = 10, temperature: float = 1.0, top_k: int | None = None) -> list[Guess]:
    """The `n` most likely tokens for one position's logits (V,), best first, without tokens of probability 0."""
    chances = probabilities(_one(logits), temperature, top_k)
    best = chances.topk(min(n, len(chances)))
    pairs = zip(best.indices.tolist(), best.values.tolist(), strict=True)
    return [Guess(token, chance) for token, chance in pairs if chance > 0]


def moved(before: Tensor, after: Tensor, n: int = 10, n_after: int | None = None) -> list[Moved]:
    """The likeliest tokens before and after a change, logits (V,) each, in order of their probability before.

    Takes the `n` likeliest tokens before, and the `n_after` (by default `n`) likeliest after.
    """
    one, other = probabilities(_one(before).double()), probabilities(_one(after).double())
    most, most_after = (min(each, len(one)) for each in (n, n if n_after is None else n_after))
    tokens = torch.cat([one.topk(most).indices, other.topk(most_after).indices]).unique()
    tokens = tokens[one[tokens].argsort(descending=True)]
    return [Moved(token, one[token].item(), other[token].item()) for token in tokens.tolist()]


def probability_moved(before: Tensor, after: Tensor) -> float:
    """Total variation between the probabilities of two sets of logits (V,): the share that moved, 0 to 1."""
    return float(total_variation(probabilities(_one(before)), probabilities(_one(after))))


def _one(logits: Tensor) -> Tensor:
    if logits.dim() != 1:
        raise Problem("logits have shape {shape}; one position's have shape (V,)", shape=tuple(logits.shape))
    return logits


class _Buffer:
    """The keys and values of one layer over all steps, each stored once."""

    def __init__(self, layer: RecordedLayer, steps: int) -> None:
        length = layer.shape[3] + steps
        _, *kv = layer.qkv
        self.k, self.v = (each.new_empty(*each.shape[:2], length, each.shape[3]) for each in kv)
        self.norms = None if layer.norms is None else layer.norms.new_empty(*layer.norms.shape[:2], length)
        self.filled = 0

    def keep(self, layer: RecordedLayer) -> RecordedLayer:
        """The layer with its keys and values in the buffer; unchanged if a sliding window has dropped some keys."""
        if layer.k is None or layer.v is None or layer.k.shape[2] != self.filled + layer.shape[2]:
            return layer
        start, self.filled = self.filled, layer.k.shape[2]
        self.k[:, :, start : self.filled] = layer.k[:, :, start:]
        self.v[:, :, start : self.filled] = layer.v[:, :, start:]
        if self.norms is not None and layer.norms is not None:
            self.norms[:, :, start : self.filled] = layer.norms[:, :, start:]
            layer = replace(layer, norms=self.norms[:, :, : self.filled])
        return replace(layer, k=self.k[:, :, : self.filled], v=self.v[:, :, : self.filled])


def _check(model: nn.Module, inputs: dict[str, Any], name: str) -> None:
    must_hold()
    if not takes_interface(model):
        raise Problem("{model} cannot generate one token at a time with a cache", model=type(model).__name__)
    ids, mask = inputs.get(name), inputs.get("attention_mask")
    if not isinstance(ids, Tensor) or ids.dim() != 2 or len(ids) != 1 or ids.shape[1] < 1:
        raise Problem("{name} must hold one sentence of at least one token, shape (1, length)", name=name)
    if isinstance(mask, Tensor) and not bool(mask.all()):
        raise Problem("generation takes one sentence without padding")
