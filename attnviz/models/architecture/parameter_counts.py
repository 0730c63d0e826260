"""How many parameters a model has, and how many of them one decoding step really reads and multiplies with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from torch import nn
from transformers.configuration_utils import PretrainedConfig

from attnviz.models.architecture.layer_spec import LayerSpec
from attnviz.models.architecture.meta_device import build

_EXPERTS = ("num_local_experts", "n_routed_experts", "num_experts")
_CHOSEN = ("num_experts_per_tok", "num_experts_per_token", "moe_topk")


@dataclass(frozen=True)
class ParameterCounts:
    """Of one model. A table of which one row is looked up (an untied input embedding, positions) costs no step."""

    total: int  #: stored
    read: int  #: read by a decoding step of a large batch: no tables, no encoder, every expert
    active: int  #: of these, what one token is multiplied with: the experts it uses


def count_parameters(config: PretrainedConfig, layers: Sequence[LayerSpec]) -> ParameterCounts:
    """Counted on the model built on the meta device; `layers` say what its cross-attention has done beforehand."""
    model: Any = build(config, implementation="eager")
    total = sum(p.numel() for p in model.parameters())
    idle = {id(p): p.numel() for p in _idle(model)}
    prepared = sum(la.parameters.w_k + la.parameters.w_v for la in layers if la.role == "cross")
    read = total - sum(idle.values()) - prepared
    return ParameterCounts(total, read, read - _unchosen(model))


def _idle(model: Any) -> Iterator[nn.Parameter]:
    """Parameters that a decoding step leaves alone: tables that are looked up, and the encoder, which has finished."""
    head = model.get_output_embeddings()
    if head is None and getattr(model.config, "tie_word_embeddings", False):
        head = model.get_input_embeddings()  # built without its head, which would be this very table
    kept = {id(p) for p in head.parameters()} if head is not None else set()
    parts = [module for module in model.modules() if isinstance(module, nn.Embedding)]
    if model.config.is_encoder_decoder:
        parts.append(model.get_encoder())
    yield from (p for part in parts for p in part.parameters() if id(p) not in kept)


def _unchosen(model: Any) -> int:
    """Parameters of the experts that one token does not go through."""
    experts, chosen = (_first(model.config, names) for names in (_EXPERTS, _CHOSEN))
    if not experts or not chosen:
        return 0
    routed = (module for name, module in model.named_modules() if name.rpartition(".")[2] == "experts")
    return sum(p.numel() // experts * (experts - chosen) for module in routed for p in module.parameters())


def _first(config: Any, names: tuple[str, ...]) -> int:
    text = config.get_text_config()
    return next((found for name in names if isinstance(found := getattr(text, name, None), int)), 0)
