"""Record the attention calls of one forward pass as `RecordedLayer`s."""

import logging
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from attnviz.base.message import Message, MessageList, Problem
from attnviz.models.capture.attention_call import Answer, AttentionCall, SplitMasks, answer_call, require_even_sharing
from attnviz.models.capture.forward_pass import block_name, has_two_stacks, modules_by_name, parent_name
from attnviz.models.capture.output_projection import copy_projection, find_output_layer, projected_lengths
from attnviz.models.capture.recorded_layer import AttentionKind, RecordedLayer, StackName

log = logging.getLogger("attnviz")

Change = Callable[[RecordedLayer], RecordedLayer | None]  #: what a layer is to be instead; None: itself

_CROSS = re.compile(r"cross|encoder_attn|encdec|enc_attn", re.IGNORECASE)


class Recorder:
    """Records one pass. A layer that `change` replaces returns the output of its replacement."""

    def __init__(
        self,
        model: nn.Module,
        grad: bool = False,
        residual: bool | str = False,
        change: Change = lambda layer: None,
    ) -> None:
        """With `grad`, tensors stay in the graph of the pass; with `residual`, projections are copied."""
        self.grad, self.residual, self.change = grad, bool(residual), change
        self.output_layer = residual if isinstance(residual, str) else None
        self.earlier_norms: dict[Any, Tensor] = {}  # of passes that this one goes on
        self._modules = modules_by_name(model)
        self._names = {id(module): name for name, module in self._modules.items()}
        self._two_stacks = has_two_stacks(model)
        self.begin_pass()

    def begin_pass(self) -> None:
        """Start a pass: forget the earlier one, except the norms of its values."""
        self.layers: list[RecordedLayer] = []
        self.split_masks: SplitMasks = {}
        self._counts: Counter[tuple[str, StackName, AttentionKind]] = Counter()
        self._run_counts: Counter[int] = Counter()  # by id(module)
        self._last_call: tuple[nn.Module, Tensor] | None = None  # the last call's module and queries
        self._real_queries: dict[StackName, Tensor | None] = {}  # which of a stack's tokens are real
        self._paddings: dict[int, tuple[Tensor, Tensor | None]] = {}

    def answer(self, module: nn.Module, call: AttentionCall, kwargs: dict[str, Any]) -> Answer:
        """Record the call and return its output: the model's own, or that of the changed layer."""
        if self.grad:
            call = replace(call, q=require_gradient(call.q), k=require_gradient(call.k), v=require_gradient(call.v))
        layer = self.describe(module, call)
        changed = self.change(layer)
        if changed is None:
            output, weights = answer_call(module, call, kwargs)
            if call.unknown:
                self.layers.append(_weights_only(layer, weights))
                return output, weights
        else:
            layer, rows = changed, changed.rows or ()
            output = changed.outputs_at(rows).transpose(1, 2).contiguous().to(call.q.dtype)
            if len(rows) < changed.shape[2]:
                original = answer_call(module, call, kwargs)[0]
                output = original.index_copy(1, torch.tensor(rows, device=original.device), output)
        if self.grad:
            handed_on = require_gradient(output.transpose(1, 2))
            layer, output = replace(layer, handed_on=handed_on), handed_on.transpose(1, 2)
        self.record_layer(layer, module)
        return output, None

    def record_layer(self, layer: RecordedLayer, module: nn.Module) -> None:
        """Record a layer with the norms of its values after the output projection."""
        try:
            layer = self._add_value_norms(layer, module)
        except Exception as error:  # another library's layer, run by us: the capture goes on without its lengths
            log.warning("the output projection of %s could not be applied to values: %s", layer.name, error)
        self.layers.append(layer)

    def record_weights(self, module: nn.Module, product: Any, input_shape: torch.Size | None) -> None:
        """Record a layer by its weights alone, which this recorder does not."""
        raise Problem("{name} computes attention in its own way", name=self.name_of(module))

    def note_mask(self, mask: Tensor | None, padding: Tensor | None) -> None:
        if mask is not None:
            self._paddings[mask.untyped_storage().data_ptr()] = (mask, padding)

    def describe(self, module: nn.Module, call: AttentionCall) -> RecordedLayer:
        """Recorded layer of a call; with `why` set, only the weights that the model reports can be shown."""
        name = self.name_of(module)
        require_even_sharing(call, name)
        cross = _is_cross(name, module) if call.cross is None else call.cross
        kind: AttentionKind = "cross" if cross else "self"
        stack = self._stack_name(name, kind, call, module)
        tower = parent_name(block_name(name) or name)  # the list of layers that it is in: all before the first number
        self._counts[tower, stack, kind] += not self._continues_call(module, call)
        run = self._run_counts[id(module)]
        self._run_counts[id(module)] += 1
        layer = RecordedLayer(
            stack=stack,
            kind=kind,
            index=self._counts[tower, stack, kind] - 1,
            name=name,
            scale=call.scale,
            q=self._detach(call.q),
            k=self._detach(call.k),
            v=self._detach(call.v),
            allowed=call.allowed,
            causal=call.causal,
            padding=self._find_padding(call),
            queries=self._real_queries.get(stack) if kind == "cross" else None,
            bias=None if call.bias is None else self._detach(call.bias),
            softcap=call.softcap,
            sinks=None if call.sinks is None else self._detach(call.sinks),
            why=Message(
                "the model passes {names} to its attention, which attnviz cannot take into account; "
                "only the weights that the model reports itself are shown",
                {"names": MessageList(call.unknown)},
            )
            if call.unknown
            else None,
            tower=tower,
            run=run,
        )
        if kind == "self":
            self._real_queries[stack] = layer.real_queries
        return layer

    def _detach(self, tensor: Tensor) -> Tensor:
        return tensor if self.grad else tensor.detach()

    def name_of(self, module: nn.Module) -> str:
        """Dotted name of the module; its class if the model does not contain it."""
        return self._names.get(id(module), type(module).__name__)

    def _continues_call(self, module: nn.Module, call: AttentionCall) -> bool:
        """Whether the call continues the same layer: some models attend image by image, on slices of one tensor."""
        before, self._last_call = self._last_call, (module, call.q)
        if before is None or before[0] is not module:
            return False
        return before[1].untyped_storage().data_ptr() == call.q.untyped_storage().data_ptr()

    def _add_value_norms(self, layer: RecordedLayer, module: nn.Module) -> RecordedLayer:
        """The layer with the norms of its values; those of keys of earlier passes are reused."""
        _, _, v = layer.qkv
        width = layer.n_heads * v.shape[-1]
        projection = find_output_layer(module, self._modules.get(parent_name(layer.name)), width)
        if projection is None:
            return layer
        if self.residual:
            w_o, b_o = copy_projection(projection, width)
            layer = replace(layer, w_o=w_o, b_o=b_o)
        _, _, q_len, k_len = layer.shape
        earlier = self.earlier_norms.get(layer.place)
        done = 0 if earlier is None else earlier.shape[2]
        if earlier is None or k_len != done + (0 if layer.kind == "cross" else q_len):
            return replace(layer, norms=projected_lengths(projection, v, layer.n_heads))
        new = [projected_lengths(projection, v[:, :, done:], layer.n_heads)] if k_len > done else []
        return replace(layer, norms=torch.cat([earlier, *new], 2))

    def _stack_name(self, name: str, kind: AttentionKind, call: AttentionCall, module: nn.Module) -> StackName:
        """Stack of a layer. In a model with a single stack, causal attention means the decoder."""
        for segment in name.split("."):
            if self._two_stacks and segment in ("encoder", "decoder"):
                return "encoder" if segment == "encoder" else "decoder"
            if not self._two_stacks and segment.startswith("decoder"):
                return "decoder"
        return "decoder" if kind == "cross" or call.causal or getattr(module, "is_causal", True) else "encoder"

    def _find_padding(self, call: AttentionCall) -> Tensor | None:
        """Padding noted when the mask was built; in other masks, keys that no query may see count as padding.

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


def merge_changed(layer: RecordedLayer, new: Tensor, original: Tensor, axis: int) -> Tensor:
    """`original`, the output of the model itself, with `new` at the query positions of a changed layer."""
    at = torch.tensor(layer.rows or (), device=new.device)
    if layer.handed_on is not None or len(at) == new.shape[axis]:
        return new
    return original.index_copy(axis, at, new.index_select(axis, at))


def require_gradient(tensor: Tensor) -> Tensor:
    """The tensor itself if it requires a gradient, else a leaf with the same values that does.

    `requires_grad` of parameters and of the caller's tensors stays as it is.
    """
    return tensor if tensor.requires_grad or not torch.is_grad_enabled() else tensor.detach().requires_grad_()


def _weights_only(layer: RecordedLayer, weights: Tensor | None) -> RecordedLayer:
    """The layer with reported weights only, so that nothing can be recomputed wrongly from it."""
    q, k, _ = layer.qkv
    reported = weights if weights is not None else q.new_zeros(*q.shape[:3], k.shape[2])
    empty: dict[str, Any] = dict.fromkeys(("q", "k", "v", "allowed", "bias", "softcap", "sinks"))
    return replace(layer, **empty, causal=False, reported=reported.detach())


def _is_cross(name: str, module: nn.Module) -> bool:
    """Whether the keys come from another sequence than the queries, by the names of the module."""
    names = (*name.split(".")[-3:], type(module).__name__)
    return getattr(module, "is_cross_attention", None) is True or any(map(_CROSS.search, names))
