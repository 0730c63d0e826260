"""One pass of a decoder that reads and extends a cache of keys and values, its attention recorded or answered anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from attnviz.core.message import Problem
from attnviz.models.capture.adapter import takes_interface
from attnviz.models.capture.adapter_check import must_hold
from attnviz.models.capture.attention_call import Answer, Call, answer_call
from attnviz.models.capture.compiled import unwrapped
from attnviz.models.capture.forward_pass import Logits
from attnviz.models.capture.recorded_layer import RecordedLayer
from attnviz.models.capture.recorder import Recorder
from attnviz.models.capture.run import record

#: What a layer's attention answers in place of the model's own: (B, H, Q, Dv) from all that was recorded of the call.
AnswerLayer = Callable[[RecordedLayer], Tensor]


@dataclass(frozen=True, eq=False)
class CachedPass:
    """The layers' queries are the new tokens, their keys all that the cache holds after this pass."""

    layers: tuple[RecordedLayer, ...]
    logits: Tensor  #: (V,) of the last token, or (T, V) where all were asked for
    cache: Any  #: the model's own, to hand to the next pass


class _Answering(Recorder):
    """Keeps q, k and v by reference and nothing else, so that a pass takes as long as one that is not recorded."""

    def __init__(self, model: nn.Module, answer_layer: AnswerLayer | None) -> None:
        super().__init__(model)
        self.answer_layer = answer_layer

    def answer(self, module: nn.Module, call: Call, mask: Tensor | None, kwargs: dict[str, Any]) -> Answer:
        layer = self.describe(module, call)
        self.layers.append(layer)
        if self.answer_layer is None:
            return answer_call(module, call, mask, kwargs)[0], None
        if call.unknown:
            raise Problem("layer {index} gives its weights only and cannot be changed", index=layer.index)
        return self.answer_layer(layer).transpose(1, 2).contiguous().to(call.q.dtype), None


def pass_with_cache(
    model: nn.Module,
    ids: Tensor,
    cache: Any = None,
    *,
    keep: bool = True,
    answer_layer: AnswerLayer | None = None,
    logits: Logits = "last",
) -> CachedPass:
    """Process the new token ids (1, T) after those in `cache`; None: there are none before them.

    With `keep` False no cache is made, as when every token is processed anew at each step.
    """
    model = unwrapped(model)
    must_hold()
    if not takes_interface(model):
        raise Problem("{model} cannot generate one token at a time with a cache", model=type(model).__name__)
    given = {"input_ids": ids, "use_cache": keep} | ({} if cache is None else {"past_key_values": cache})
    recorder = _Answering(model, answer_layer)
    trace, output = record(model, recorder, logits, given)
    if trace.logits is None:
        raise Problem("{model} predicts no tokens", model=type(model).__name__)
    with torch.no_grad():
        return CachedPass(trace.layers, trace.logits[0], output.past_key_values if keep else None)
