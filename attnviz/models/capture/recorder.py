"""Record the attention calls of one forward pass as `RecordedLayer`s."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from attnviz.base.message import Message, Several
from attnviz.models.capture.attention_call import Answer, Call, MaskSplitter, answer_call, listener, must_share_evenly
from attnviz.models.capture.compiled import plain_name
from attnviz.models.capture.output_projection import copied_projection, lengths_through, output_layer_of
from attnviz.models.capture.recorded_layer import AttentionKind, RecordedLayer, StackName

log = logging.getLogger("attnviz")

_CROSS = re.compile(r"cross|encoder_attn|encdec|enc_attn", re.IGNORECASE)


class Recorder:
    """Records one pass. A subclass may change the attention: see `attnviz.models.capture.intervention`."""

    def __init__(self, model: nn.Module, keeps_graph: bool = False, keeps_projections: bool = False) -> None:
        self._keeps_projections = keeps_projections
        self._held: Callable[[Tensor], Tensor] = (lambda tensor: tensor) if keeps_graph else Tensor.detach
        self.earlier_norms: dict[Any, Tensor] = {}  # of passes that this one goes on
        self._modules = {plain_name(name): module for name, module in model.named_modules()}
        self._names = {id(module): name for name, module in self._modules.items()}
        self._two_stacks = bool(getattr(getattr(model, "config", None), "is_encoder_decoder", False))
        self.begin()

    def begin(self) -> None:
        """Start a pass: nothing is known of an earlier one but the lengths of its values."""
        self.layers: list[RecordedLayer] = []
        self.splitter = MaskSplitter()
        self._counts: Counter[tuple[str, StackName, AttentionKind]] = Counter()
        self._runs: Counter[int] = Counter()  # by id(module)
        self._latest: tuple[nn.Module, Tensor] | None = None  # the last call's module and queries
        self._queries: dict[StackName, Tensor | None] = {}  # which of a stack's tokens are real
        self._paddings: dict[int, tuple[Tensor, Tensor | None]] = {}

    def answer(self, module: nn.Module, call: Call, mask: Tensor | None, kwargs: dict[str, Any]) -> Answer:
        return self.keep(self.describe(module, call), module, call, mask, kwargs)

    def keep(
        self, layer: RecordedLayer, module: nn.Module, call: Call, mask: Tensor | None, kwargs: dict[str, Any]
    ) -> Answer:
        """Compute attention as the model itself would, and record the layer."""
        output, weights = answer_call(module, call, mask, kwargs)
        self.layers.append(reported(layer, weights, call) if call.unknown else self.with_norms(layer, module))
        return output, None if not call.unknown else weights

    def note_mask(self, mask: Tensor | None, padding: Tensor | None) -> None:
        if mask is not None:
            self._paddings[mask.untyped_storage().data_ptr()] = (mask, padding)

    def describe(self, module: nn.Module, call: Call) -> RecordedLayer:
        name = self._names.get(id(module), type(module).__name__)
        must_share_evenly(call, name)
        kind = self._kind(name, module, call)
        stack = self._stack(name, kind, call, module)
        tower = tower_of(name)
        self._counts[tower, stack, kind] += not self._goes_on(module, call)
        run = self._runs[id(module)]
        self._runs[id(module)] += 1
        layer = RecordedLayer(
            stack=stack,
            kind=kind,
            index=self._counts[tower, stack, kind] - 1,
            name=name,
            scale=call.scale,
            q=self._held(call.q),
            k=self._held(call.k),
            v=self._held(call.v),
            allowed=call.allowed,
            causal=call.causal,
            padding=self._padding(call),
            queries=self._queries.get(stack) if kind == "cross" else None,
            bias=None if call.bias is None else self._held(call.bias),
            softcap=call.softcap,
            sinks=None if call.sinks is None else self._held(call.sinks),
            tower=tower,
            run=run,
        )
        if kind == "self":
            self._queries[stack] = layer.real_queries
        return layer

    def _kind(self, name: str, module: nn.Module, call: Call) -> AttentionKind:
        """Whether the keys come from the queries' own sequence, by the names of module and call."""
        return "cross" if _is_cross(name, module) else "self"

    def _goes_on(self, module: nn.Module, call: Call) -> bool:
        """Whether this is another piece of the same layer: pictures of one batch attend apart, cut from one tensor."""
        before, self._latest = self._latest, (module, call.q)
        if before is None or before[0] is not module:
            return False
        return before[1].untyped_storage().data_ptr() == call.q.untyped_storage().data_ptr()

    def with_norms(self, layer: RecordedLayer, module: nn.Module, values_are_known: bool = True) -> RecordedLayer:
        """The layer with the lengths of its values after the output projection, as that is now.

        Lengths of earlier passes over the same keys are kept where `values_are_known` not to have changed.
        """
        try:
            return self._measured(layer, module, values_are_known)
        except Exception as error:  # another library's layer, run by us: the capture goes on without its lengths
            log.warning("the output projection of %s could not be applied to values: %s", layer.name, error)
            return layer

    def _measured(self, layer: RecordedLayer, module: nn.Module, values_are_known: bool) -> RecordedLayer:
        assert layer.v is not None
        v = layer.v
        width = layer.n_heads * layer.v.shape[-1]
        found = output_layer_of(module, self._modules.get(layer.name.rpartition(".")[0]), width)
        if found is None:
            return layer
        if self._keeps_projections:
            w_o, b_o = copied_projection(found, width)
            layer = replace(layer, w_o=w_o, b_o=b_o)
        _, _, q_len, k_len = layer.shape
        earlier = self.earlier_norms.get(layer.place) if values_are_known else None
        done = 0 if earlier is None else earlier.shape[2]
        if earlier is None or k_len != done + (0 if layer.kind == "cross" else q_len):
            return replace(layer, norms=lengths_through(found, v, layer.n_heads))
        if k_len == done:
            return replace(layer, norms=earlier)
        new = lengths_through(found, v[:, :, done:], layer.n_heads)
        return replace(layer, norms=torch.cat([earlier, new], 2))

    def _stack(self, name: str, kind: AttentionKind, call: Call, module: nn.Module) -> StackName:
        """Which stack a layer is in. In a model with a single stack, that is the decoder if its attention is causal."""
        for part in name.split("."):
            if self._two_stacks and part in ("encoder", "decoder"):
                return "encoder" if part == "encoder" else "decoder"
            if not self._two_stacks and part.startswith("decoder"):
                return "decoder"
        return "decoder" if kind == "cross" or call.causal or getattr(module, "is_causal", True) else "encoder"

    def _padding(self, call: Call) -> Tensor | None:
        """The padding noted when the mask was made; in other masks, keys that no query of any head may see are padding.

        True at real keys, (B or 1, 1, 1, K); None without padding.
        """
        if call.allowed is None:
            return None
        mask = call.allowed if call.mask is None else call.mask
        pointer = mask.untyped_storage().data_ptr()
        if pointer not in self._paddings:
            seen = call.allowed.any(-2, keepdim=True)  # (B or 1, 1 or H, 1, K)
            if seen.dim() > 2:
                seen = seen.any(-3, keepdim=True)  # a key that one head alone hides is that head's pattern
            self._paddings[pointer] = (mask, None if bool(seen.all()) else seen)
        padding = self._paddings[pointer][1]
        return None if padding is None else padding[..., : call.allowed.shape[-1]]


def reported(layer: RecordedLayer, weights: Tensor | None, call: Call) -> RecordedLayer:
    """The layer with only the weights that the model reported, so that nothing can be recomputed wrongly from it."""
    why = Message(
        "the model passes {names} to its attention, which attnviz cannot take into account; "
        "only the weights that the model reports itself are shown",
        {"names": Several(call.unknown)},
    )
    kept = weights if weights is not None else call.q.new_zeros(*call.q.shape[:3], call.k.shape[2])
    return RecordedLayer(
        layer.stack,
        layer.kind,
        layer.index,
        layer.name,
        layer.scale,
        padding=layer.padding,
        queries=layer.queries,
        reported=kept.detach(),
        why=why,
        tower=layer.tower,
        run=layer.run,
    )


def tower_of(name: str) -> str:
    """The list of layers that a module is in, by its dotted name: all before the first number."""
    parts = name.split(".")
    first = next((place for place, part in enumerate(parts) if part.isdigit()), len(parts) - 1)
    return ".".join(parts[:first])


@contextmanager
def listening(recorder: Recorder) -> Iterator[None]:
    """Inside the block, attention calls of this thread (this context) go to `recorder`."""
    token = listener.set(recorder)
    try:
        yield
    finally:
        listener.reset(token)


def _is_cross(name: str, module: nn.Module) -> bool:
    flag = getattr(module, "is_cross_attention", None)
    if isinstance(flag, bool) and flag:
        return True
    last = name.split(".")[-3:]
    return any(_CROSS.search(part) for part in (*last, type(module).__name__))
