"""Record families that cannot use a custom attention function, by the weights that their eager path reports."""

import inspect
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from attnviz.base.message import Message, Problem
from attnviz.models.capture.adapter import switch_implementation
from attnviz.models.capture.forward_pass import (
    Logits,
    attach_hooks,
    disable_compile,
    has_two_stacks,
    parent_name,
    pass_arguments,
    select_ids_and_masks,
    select_logits,
)
from attnviz.models.capture.recorded_layer import AttentionKind, RecordedLayer, StackName
from attnviz.models.capture.trace import Trace

WHY = Message(
    "this family of models computes attention in its own way; only the weights that it reports itself are shown"
)


def record_reported_layers(model: nn.Module, logits: Logits, inputs: dict[str, Any]) -> Trace:
    """Record a pass with `output_attentions=True`: slower, and it needs memory for L x H x Q x K more numbers."""
    backbone, arguments = pass_arguments(model, logits, inputs)
    handed_on: list[tuple[str, Tensor]] = []
    hooks = (
        module.register_forward_hook(partial(_note_weights, handed_on, name))
        for name, module in model.named_modules()
        if name.endswith(".attention.self") and hasattr(module, "window_size")
    )
    if any(
        parameter.name == "output_attentions" or parameter.kind is parameter.VAR_KEYWORD
        for parameter in inspect.signature(backbone.forward).parameters.values()
    ):
        arguments["output_attentions"] = True
    with torch.no_grad(), disable_compile(model), switch_implementation(model, "eager"), attach_hooks(hooks):
        output = backbone(**arguments)
    matrices = list(_iterate_matrices(output, ""))
    of_windows = len(handed_on) > len(matrices)  # layers of windows (Swin v2): the model reports one of each stage
    layers: list[RecordedLayer] = []
    counts: Counter[tuple[str, StackName, AttentionKind]] = Counter()
    for name, weights in handed_on if of_windows else matrices:
        stack, kind = _stack_and_kind(name, model)
        tower = "" if of_windows else parent_name(name)
        keys, queries = _padding_masks(model, inputs, stack, kind, weights)
        layers.append(
            RecordedLayer(
                stack,
                kind,
                counts[tower, stack, kind],
                name,
                scale=float("nan"),
                padding=keys,
                queries=queries,
                reported=weights.detach(),
                why=WHY,
                tower=tower,
            )
        )
        counts[tower, stack, kind] += 1
    if not layers:
        _raise_no_weights(model, output)
    return Trace(tuple(layers), select_logits(output, logits, model, inputs), select_ids_and_masks(inputs))


def _note_weights(noted: list[tuple[str, Tensor]], name: str, _module: nn.Module, _args: Any, output: Any) -> None:
    """Forward hook: store the weights (B, H, Q, K) that a window attention layer returns."""
    if isinstance(output, tuple) and len(output) > 1 and isinstance(output[1], Tensor) and output[1].dim() == 4:
        noted.append((name, output[1]))


def _raise_no_weights(model: nn.Module, output: Any) -> None:
    """Raise the Problem that says why no attention weights were found."""
    fields = output.values() if isinstance(output, dict) else ()
    if any(isinstance(value, tuple) and value and all(entry is None for entry in value) for value in fields):
        raise Problem(
            '{model} did not return its attention weights; load it with attn_implementation="eager"',
            model=type(model).__name__,
        )
    raise Problem("{model} has no attention layers that can be read", model=type(model).__name__)


def _padding_masks(
    model: nn.Module, inputs: dict[str, Any], stack: StackName, kind: AttentionKind, weights: Tensor
) -> tuple[Tensor | None, Tensor | None]:
    """Masks of real keys (B, 1, 1, K) and, in cross-attention, of real queries (B, 1, Q); None where unknown."""
    mask_name = "decoder_attention_mask" if has_two_stacks(model) and stack == "decoder" else "attention_mask"
    q_len, k_len = weights.shape[-2:]
    if kind == "self":
        return _real_mask(inputs.get(mask_name), k_len), None
    queries = _real_mask(inputs.get(mask_name), q_len)
    return _real_mask(inputs.get("attention_mask"), k_len), None if queries is None else queries[:, 0]


def _real_mask(mask: object, length: int) -> Tensor | None:
    """Mask (B, length) as (B, 1, 1, length); None if it hides nothing or has another shape."""
    if not isinstance(mask, Tensor) or mask.dim() != 2 or mask.shape[1] != length or bool(mask.all()):
        return None
    return mask.bool()[:, None, None, :]


def _iterate_matrices(output: Any, prefix: str) -> Iterator[tuple[str, Tensor]]:
    """Yield every attention matrix (B, H, Q, K) of an output and of nested outputs, with its field's name."""
    for name, value in output.items() if isinstance(output, dict) else ():
        if name.endswith("attentions") and isinstance(value, tuple | list):
            yield from ((prefix + name, matrix) for matrix in value if isinstance(matrix, Tensor) and matrix.dim() == 4)
        else:
            yield from _iterate_matrices(value, f"{prefix}{name}.")


def _stack_and_kind(name: str, model: nn.Module) -> tuple[StackName, AttentionKind]:
    """Stack and kind of the layers in an output field such as "encoder_attentions" or "cross_attentions"."""
    if "cross" in name:
        return "decoder", "cross"
    if "encoder" in name or "decoder" in name:
        return ("decoder" if "decoder" in name else "encoder"), "self"
    decodes = any(word in type(model).__name__ for word in ("CausalLM", "LMHead"))
    return ("decoder" if decodes or getattr(getattr(model, "config", None), "is_decoder", False) else "encoder"), "self"
