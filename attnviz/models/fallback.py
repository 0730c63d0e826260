"""Families that do not look their attention function up: their plain path, asked for its weights."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from attnviz.core.message import Message
from attnviz.models.forward import Logits, arguments, logits_of
from attnviz.models.layer import Kind, Layer, Stack
from attnviz.models.switch import switched
from attnviz.models.trace import Trace

WHY = Message("this family of models computes attention in its own way; only its own weights are shown")


def eager_layers(model: nn.Module, logits: Logits, inputs: dict[str, Any]) -> Trace:
    """A pass with `output_attentions=True`: slower, and heavier by L x H x Q x K numbers."""
    part, given = arguments(model, logits, inputs)
    with torch.no_grad(), switched(model, "eager"):
        output = part(**given, output_attentions=True)
    found: list[Layer] = []
    for field, stack, kind in _fields(model):
        for index, weights in enumerate(getattr(output, field, None) or ()):
            if isinstance(weights, Tensor) and weights.dim() == 4:
                found.append(Layer(stack, kind, index, field, float("nan"), reported=weights, why=WHY))
    kept = {
        name: value for name, value in inputs.items() if isinstance(value, Tensor) and not value.is_floating_point()
    }
    return Trace(tuple(found), logits_of(output, logits, model, inputs), kept)


def _fields(model: nn.Module) -> list[tuple[str, Stack, Kind]]:
    config = getattr(model, "config", None)
    architecture = type(model).__name__
    decodes = any(word in architecture for word in ("CausalLM", "LMHead")) or getattr(config, "is_decoder", False)
    alone: Stack = "decoder" if decodes else "encoder"
    return [
        ("encoder_attentions", "encoder", "self"),
        ("attentions", alone, "self"),
        ("decoder_attentions", "decoder", "self"),
        ("cross_attentions", "decoder", "cross"),
    ]
