"""Generate text one token at a time with a cache, and record the attention of each step."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from attnviz.base.message import Problem
from attnviz.models.capture.adapter import takes_interface
from attnviz.models.capture.adapter_check import must_hold
from attnviz.models.capture.compiled import unwrapped
from attnviz.models.capture.edit import Edit
from attnviz.models.capture.intervention import Intervention
from attnviz.models.capture.next_token import probabilities
from attnviz.models.capture.recorded_layer import RecordedLayer
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
    two_stacks = bool(getattr(getattr(model, "config", None), "is_encoder_decoder", False))
    name = "decoder_input_ids" if two_stacks else "input_ids"
    _check(model, inputs, name)
    choose = choose or sampler()
    given = {key: value for key, value in inputs.items() if two_stacks or key != "attention_mask"}
    buffers: dict[int, _Buffer] = {}
    norms: dict[Any, Tensor] = {}
    for _ in range(steps):
        recorder = Intervention(model, tuple(edits))
        recorder.earlier_norms = norms
        trace, output = record(model, recorder, "last", {**given, "use_cache": True})
        recorder.edits.must_have_met_all()
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


class _Buffer:
    """The keys and values of one layer over all steps, each stored once."""

    def __init__(self, layer: RecordedLayer, steps: int) -> None:
        assert layer.k is not None
        assert layer.v is not None
        length = layer.k.shape[2] + steps
        self.k = layer.k.new_empty(*layer.k.shape[:2], length, layer.k.shape[3])
        self.v = layer.v.new_empty(*layer.v.shape[:2], length, layer.v.shape[3])
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
    ids = inputs.get(name)
    must_hold()
    if not takes_interface(model):
        raise Problem("{model} cannot generate one token at a time with a cache", model=type(model).__name__)
    if not isinstance(ids, Tensor) or ids.dim() != 2 or len(ids) != 1 or ids.shape[1] < 1:
        raise Problem("{name} must hold one sentence of at least one token, shape (1, length)", name=name)
    mask = inputs.get("attention_mask")
    if isinstance(mask, Tensor) and not bool(mask.all()):
        raise Problem("generation takes one sentence without padding")
