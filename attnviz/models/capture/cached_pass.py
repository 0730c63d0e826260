"""Recorded passes of a decoder with a key/value cache, and passes resumed at a layer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from attnviz.base.message import Problem
from attnviz.models.capture.adapter import uses_interface
from attnviz.models.capture.adapter_check import require_adapter
from attnviz.models.capture.attention_call import Answer, AttentionCall, answer_call
from attnviz.models.capture.forward_pass import (
    Logits,
    attach_hooks,
    modules_by_name,
    parent_name,
    this_thread_only,
    unwrap_model,
)
from attnviz.models.capture.output_projection import find_output_layer
from attnviz.models.capture.recorded_layer import RecordedLayer
from attnviz.models.capture.recorder import Recorder
from attnviz.models.capture.run import capture, record_pass

#: replaces a layer's attention: from its recorded call to its head outputs (B, H, Q, Dv)
AnswerLayer = Callable[[RecordedLayer], Tensor]


@dataclass(frozen=True, eq=False)
class CachedPass:
    """Layers, logits and cache of one pass: queries are the new tokens, keys are all in the cache after it."""

    layers: tuple[RecordedLayer, ...]
    logits: Tensor  #: (V,) of the last token, or (T, V) where all were asked for
    cache: Any  #: the model's own, to hand to the next pass


class _AnsweringRecorder(Recorder):
    """Records q, k and v by reference only, so that a pass takes as long as one that is not recorded."""

    answer_layer: AnswerLayer | None = None

    def answer(self, module: nn.Module, call: AttentionCall, kwargs: dict[str, Any]) -> Answer:
        layer = self.describe(module, call)
        self.layers.append(layer)
        if self.answer_layer is None:
            return answer_call(module, call, kwargs)[0], None
        if layer.why is not None:
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
    seen: Tensor | None = None,
) -> CachedPass:
    """Run the new token ids (1, T) after those in `cache`; None: an empty cache.

    With `keep` False no cache is built, as when every step processes all tokens again. `seen` (1, cached + T) is 0 at
    tokens that the new ones may not look at; none: they may at all.
    """
    model = unwrap_model(model)
    require_adapter()
    if not uses_interface(model):
        raise Problem("{model} cannot generate one token at a time with a cache", model=type(model).__name__)
    inputs = {"input_ids": ids, "use_cache": keep} | ({} if cache is None else {"past_key_values": cache})
    inputs |= {} if seen is None else {"attention_mask": seen}
    recorder = _AnsweringRecorder(model)
    recorder.answer_layer = answer_layer
    trace, output = record_pass(model, recorder, logits, inputs)
    if trace.logits is None:
        raise Problem("{model} predicts no tokens", model=type(model).__name__)
    return CachedPass(trace.layers, trace.logits[0], output.past_key_values if keep else None)


def cache_of(layers: Sequence[RecordedLayer]) -> Any:
    """A cache of the keys and values of a recorded pass, after which new tokens can be run."""
    from transformers import DynamicCache  # here because nobody else needs it

    cache = DynamicCache()
    for number, layer in enumerate(layers):
        _, k, v = layer.qkv
        cache.update(k, v, number)
    return cache


class ResumedPass:
    """A recorded pass that can be resumed at any layer.

    >>> started = ResumedPass(model, input_ids=ids)
    >>> started.ablated_logits(3, [0, 5])                 # (2, B, Q, V): layer 3 with head 0 silenced, then with head 5
    """

    def __init__(self, model: nn.Module, **inputs: Any) -> None:
        self.model = unwrap_model(model)
        self._modules = modules_by_name(self.model)
        self._calls: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {}  #: beside the hidden states, by block
        hooks = (
            module.register_forward_pre_hook(this_thread_only(partial(self._store_arguments, name)), with_kwargs=True)
            for name, module in self._modules.items()
            if name.rpartition(".")[2].isdigit()
        )
        with attach_hooks(hooks):
            self.trace = capture(self.model, logits="all", residual=True, **inputs)
        stream = self.trace.residual
        if stream is None or stream.path is None or stream.why is not None:
            raise Problem(
                "this model cannot be taken up in the middle of a pass: {why}",
                why=None if stream is None else stream.why,
            )
        if any(step.name not in self._modules for step in stream.path.steps):
            raise Problem("this model cannot be taken up in the middle of a pass: {why}", why=stream.linearised)
        self.stream, self.path = stream, stream.path

    def ablated_logits(self, layer: int, heads: Sequence[int], means: Tensor | None = None) -> Tensor:
        """Logits (n, B, Q, V) of n passes, each with one head of `layer` replaced by 0 or by its row of `means`."""
        recorded = self.trace[layer]
        width = recorded.n_heads * recorded.qkv[2].shape[-1]
        module, parent = self._modules[recorded.name], self._modules.get(parent_name(recorded.name))
        projection = find_output_layer(module, parent, width)
        assert projection is not None  # a pass without one was refused
        change = this_thread_only(partial(_replace_heads, list(heads), recorded.n_heads, means))
        blocks = self.stream.blocks
        block = next(n for n, name in enumerate(blocks) if f"{recorded.name}.".startswith(f"{name}."))
        hidden = self.stream[block].repeat(len(heads), 1, 1)  # (n*B, Q, M)
        with torch.no_grad(), attach_hooks([projection.register_forward_pre_hook(change)]):
            for name in blocks[block:]:
                args, kwargs = self._calls[name]
                answer = self._modules[name](
                    hidden, *_repeat_rows(args, len(heads)), **_repeat_rows(kwargs, len(heads))
                )
                hidden = answer[0] if isinstance(answer, tuple | list) else answer
            ask = getattr(self.model, "get_output_embeddings", None)
            output = ask() if callable(ask) else self._modules["lm_head"]
            for step in self.path.steps:
                hidden = self._modules[step.name](hidden)
            logits = self.path.apply_softcap(output(hidden) * self.path.factor)
        return logits.unflatten(0, (len(heads), -1))

    def _store_arguments(self, name: str, _: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Forward pre-hook: store a block's arguments other than its hidden states."""
        self._calls[name] = (args[1:], {key: value for key, value in kwargs.items() if key != "hidden_states"})


def _replace_heads(
    heads: list[int], n_heads: int, means: Tensor | None, _: nn.Module, args: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Forward pre-hook of an output projection: replace head `heads[n]` in the n-th copy of the batch."""
    head_outputs = args[0].clone()
    copies = head_outputs.unflatten(0, (len(heads), -1)).unflatten(-1, (n_heads, -1))  # (n, B, Q, H, Dv)
    for n, head in enumerate(heads):
        copies[n, ..., head, :] = 0.0 if means is None else means[head].to(head_outputs)
    return (head_outputs, *args[1:])


def _repeat_rows(value: Any, times: int) -> Any:
    """Repeat a block's arguments for `times` as many rows; tensors without a row for each sentence stay."""
    if isinstance(value, Tensor):
        return value if value.dim() < 2 or value.shape[0] == 1 else value.repeat(times, *(1,) * (value.dim() - 1))
    if isinstance(value, tuple | list):
        return type(value)(_repeat_rows(entry, times) for entry in value)
    return {name: _repeat_rows(entry, times) for name, entry in value.items()} if isinstance(value, dict) else value
