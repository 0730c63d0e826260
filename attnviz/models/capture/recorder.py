"""Record the attention calls of one forward pass as `RecordedLayer`s."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn

from attnviz.core.message import Message
from attnviz.models.capture.attention_call import Answer, Call, MaskSplitter, answer_call, listener
from attnviz.models.capture.output_projection import output_projection_of
from attnviz.models.capture.recorded_layer import AttentionKind, RecordedLayer, StackName

_CROSS = re.compile(r"cross|encoder_attn|encdec|enc_attn", re.IGNORECASE)


class Recorder:
    """Records one pass. A subclass may change the attention: see `attnviz.models.capture.intervention`."""

    def __init__(self, model: nn.Module) -> None:
        self.layers: list[RecordedLayer] = []
        self.splitter = MaskSplitter()
        self._modules = dict(model.named_modules())
        self._names = {id(module): name for name, module in self._modules.items()}
        self._two_stacks = bool(getattr(getattr(model, "config", None), "is_encoder_decoder", False))
        self._counts: Counter[tuple[StackName, AttentionKind]] = Counter()
        self._paddings: dict[int, tuple[Tensor, Tensor | None]] = {}

    def answer(self, module: nn.Module, call: Call, mask: Tensor | None, kwargs: dict[str, Any]) -> Answer:
        return self.keep(self.describe(module, call), module, call, mask, kwargs)

    def keep(
        self, layer: RecordedLayer, module: nn.Module, call: Call, mask: Tensor | None, kwargs: dict[str, Any]
    ) -> Answer:
        """Compute attention as the model itself would, and record the layer."""
        output, weights = answer_call(module, call, mask, kwargs)
        self.layers.append(reported(layer, weights, call) if call.unknown else layer)
        return output, None if not call.unknown else weights

    def note_mask(self, mask: Tensor | None, padding: Tensor | None) -> None:
        if mask is not None:
            self._paddings[mask.untyped_storage().data_ptr()] = (mask, padding)

    def describe(self, module: nn.Module, call: Call) -> RecordedLayer:
        name = self._names.get(id(module), type(module).__name__)
        kind: AttentionKind = "cross" if _is_cross(name, module) else "self"
        stack = self._stack(name, kind, call, module)
        index = self._counts[stack, kind]
        self._counts[stack, kind] += 1
        width = call.q.shape[1] * call.v.shape[-1]
        return RecordedLayer(
            stack=stack,
            kind=kind,
            index=index,
            name=name,
            scale=call.scale,
            q=call.q.detach(),
            k=call.k.detach(),
            v=call.v.detach(),
            allowed=call.allowed,
            causal=call.causal,
            padding=self._padding(call),
            bias=None if call.bias is None else call.bias.detach(),
            softcap=call.softcap,
            sinks=None if call.sinks is None else call.sinks.detach(),
            w_o=output_projection_of(module, self._modules.get(name.rpartition(".")[0]), width),
        )

    def _stack(self, name: str, kind: AttentionKind, call: Call, module: nn.Module) -> StackName:
        """Which stack a layer is in. In a model with a single stack, that is the decoder if its attention is causal."""
        for part in name.split("."):
            if self._two_stacks and part in ("encoder", "decoder"):
                return "encoder" if part == "encoder" else "decoder"
            if not self._two_stacks and part.startswith("decoder"):
                return "decoder"
        return "decoder" if kind == "cross" or call.causal or getattr(module, "is_causal", True) else "encoder"

    def _padding(self, call: Call) -> Tensor | None:
        """The padding noted when the mask was made; for other masks, the keys that no query may see count as padding.

        True at real keys, (B or 1, 1 or H, 1, K); None without padding.
        """
        if call.allowed is None:
            return None
        mask = call.allowed if call.mask is None else call.mask
        pointer = mask.untyped_storage().data_ptr()
        if pointer not in self._paddings:
            seen = call.allowed.any(-2, keepdim=True)  # (B or 1, 1 or H, 1, K)
            self._paddings[pointer] = (mask, None if bool(seen.all()) else seen)
        padding = self._paddings[pointer][1]
        return None if padding is None else padding[..., : call.allowed.shape[-1]]


def reported(layer: RecordedLayer, weights: Tensor | None, call: Call) -> RecordedLayer:
    """The layer with only the weights that the model reported, so that nothing can be recomputed wrongly from it."""
    why = Message(
        "the model passes {names} to its attention, which attnviz cannot take into account; "
        "only the weights that the model reports itself are shown",
        {"names": ", ".join(call.unknown)},
    )
    kept = weights if weights is not None else call.q.new_zeros(*call.q.shape[:3], call.k.shape[2])
    return RecordedLayer(layer.stack, layer.kind, layer.index, layer.name, layer.scale, reported=kept.detach(), why=why)


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
