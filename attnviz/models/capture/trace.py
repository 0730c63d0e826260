"""The recording of one forward pass."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from torch import Tensor

from attnviz.models.capture.recorded_layer import RecordedLayer


@dataclass(frozen=True, eq=False)
class Trace:
    """The attention layers of one pass in execution order, and the model's logits."""

    layers: tuple[RecordedLayer, ...]
    logits: Tensor | None = None  #: "last": (B, V); "all": (B, Q, V)
    inputs: dict[str, Tensor] = field(default_factory=dict)  #: token ids and padding masks given to the pass

    @cached_property
    def nbytes(self) -> int:
        """Bytes that the trace keeps in memory. Shared storage is counted once, the model's weights not at all."""
        storages = {}
        for layer in self.layers:
            for tensor in (
                layer.q,
                layer.k,
                layer.v,
                layer.allowed,
                layer.padding,
                layer.bias,
                layer.norms,
                layer.reported,
            ):
                if tensor is not None:
                    storage = tensor.untyped_storage()
                    storages[storage.data_ptr()] = storage.nbytes()
        if self.logits is not None:
            storages[self.logits.untyped_storage().data_ptr()] = self.logits.untyped_storage().nbytes()
        return sum(storages.values())
