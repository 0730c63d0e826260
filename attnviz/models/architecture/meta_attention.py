"""Helpers to run a model on the meta device: attention that only computes shapes, and a fixed answer about padding."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

# imported from its module: the names of the transformers package are incomplete while another thread imports it
from transformers.masking_utils import AttentionMaskInterface
from transformers.modeling_utils import AttentionInterface

SHAPES_ONLY = "attnviz_shapes_only"

_ANSWERS = {Tensor.item: 1, Tensor.__bool__: True, Tensor.__int__: 1, Tensor.__contains__: False}


class NoPadding(TorchFunctionMode):
    """Lets models test the values of their padding mask on the meta device, where tensors have no values.

    Such tests are answered as if there were no padding.
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if args and isinstance(args[0], Tensor) and args[0].is_meta and func in _ANSWERS:
            return _ANSWERS[func]
        return func(*args, **(kwargs or {}))


def _shapes_only(
    module: nn.Module, query: Tensor, key: Tensor, value: Tensor, *args: Any, **kwargs: Any
) -> tuple[Tensor, None]:
    """Attention that computes nothing and returns an output of the right shape, (B, Q, H, Dv)."""
    batch, heads, q_len, _ = query.shape
    return query.new_empty(batch, q_len, heads, value.shape[-1]), None


AttentionInterface.register(SHAPES_ONLY, _shapes_only)
AttentionMaskInterface.register(SHAPES_ONLY, lambda *args, **kwargs: None)
