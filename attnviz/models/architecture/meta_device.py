"""Measure a model without loading it: built on torch's `meta` device, where tensors have shapes but no memory."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from transformers.configuration_utils import PretrainedConfig
from transformers.masking_utils import AttentionMaskInterface
from transformers.modeling_utils import AttentionInterface
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING,
    MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING,
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
)

from attnviz.base.message import Message

SHAPES_ONLY = "attnviz_shapes_only"
#: Class names of softmax attention modules; T5's LayerSelfAttention is the block around the attention module.
_ATTENTION = re.compile(r"(?<!Layer)(?<!LayerSelf)(?<!LayerCross)(Attention|Attn)$")
_NOT_SOFTMAX = re.compile(r"(Linear|Delta|Lightning|LayerSelf|LayerCross|LayerLocal|LayerTransientGlobal)\w*Attention$")
#: Norms that some families place inside the attention module although they belong to the block.
_BLOCK_NORM = re.compile(r"(^|\.)(LayerNorm|layer_norm|self_attn_layer_norm|ln)\.")


@dataclass(frozen=True)
class MeasuredModule:
    """One attention module of the model."""

    name: str
    kind: str  #: class name
    parameters: int


@dataclass(frozen=True)
class MeasuredCache:
    """The contents of one layer's cache after a pass."""

    role: str  #: "self" or "cross"
    index: int
    kind: str  #: class name of the cache layer
    nbytes: int  #: bytes of the keys and values (or states) that later steps read
    storage: int  #: bytes of the memory that they occupy, larger where they are a view of a longer tensor
    elements: int
    shapes: tuple[str, ...]
    window: int | None = None


@dataclass(frozen=True)
class Measurement:
    """The result of building a model on the meta device and running it there once."""

    total_parameters: int
    modules: tuple[MeasuredModule, ...]
    cache: tuple[MeasuredCache, ...]
    seconds: float
    failure: Message | None = None  #: why the pass failed; None when it succeeded

    @property
    def attention_parameters(self) -> int:
        return sum(module.parameters for module in self.modules)

    @property
    def cache_bytes(self) -> int:
        return sum(layer.nbytes for layer in self.cache)


def measure_on_meta(
    config: PretrainedConfig,
    tokens: int = 16,
    batch: int = 1,
    dtype: torch.dtype = torch.bfloat16,
    encoder_tokens: int | None = None,
) -> Measurement:
    """Build `config`'s model on `meta`, count its attention's parameters, run `tokens` tokens, measure its cache.

    With `tokens` 0 nothing is run. In an encoder-decoder, `tokens` counts the decoder's tokens and
    `encoder_tokens` (by default the same number) the encoder's.
    """
    started = time.perf_counter()
    failure: Message | None = None
    cache: tuple[MeasuredCache, ...] = ()
    for implementation in (SHAPES_ONLY, "eager"):  # some families do not accept a custom attention function
        try:
            model = build(config, dtype, implementation)
        except (ValueError, ImportError, KeyError):
            if implementation == "eager":
                raise
            continue
        if not tokens:
            break
        try:
            with NoPadding():
                cache, failure = tuple(_cache_of(_run(model, tokens, batch, encoder_tokens or tokens))), None
            break
        except Exception as error:  # model code runs on a device it was not written for, so any exception is possible
            failure = failure or Message(
                "{model} cannot run on the meta device: {reason}", {"model": type(model).__name__, "reason": str(error)}
            )
    total = sum(p.numel() for p in model.parameters())
    return Measurement(total, attention_modules(model), cache, time.perf_counter() - started, failure)


def build(
    config: PretrainedConfig, dtype: torch.dtype = torch.bfloat16, implementation: str = SHAPES_ONLY
) -> nn.Module:
    """The model of `config` on the meta device, with its language-modelling head if it has one."""
    kind = type(config)
    if config.is_encoder_decoder and kind in MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING:
        auto: Any = AutoModelForSeq2SeqLM
    elif not config.is_encoder_decoder and kind in MODEL_FOR_CAUSAL_LM_MAPPING:
        auto = AutoModelForCausalLM
    else:
        auto = AutoModel
    with torch.device("meta"):
        model: nn.Module = auto.from_config(config, dtype=dtype, attn_implementation=implementation)
    return model.eval()


def attention_modules(model: nn.Module) -> tuple[MeasuredModule, ...]:
    """Every softmax attention module: outermost modules only, each listed once even if it runs several times."""
    found: list[MeasuredModule] = []

    def walk(module: nn.Module, path: str) -> None:
        for name, child in module.named_children():
            here, kind = f"{path}{name}", type(child).__name__
            if _ATTENTION.search(kind) and not _NOT_SOFTMAX.search(kind):
                own = sum(p.numel() for inner, p in child.named_parameters() if not _BLOCK_NORM.search(inner))
                found.append(MeasuredModule(here, kind, own))
            else:
                walk(child, here + ".")

    walk(model, "")
    return tuple(found)


def _run(model: nn.Module, tokens: int, batch: int, encoder_tokens: int) -> Any:
    config: Any = model.config
    ids = torch.zeros(batch, tokens, dtype=torch.long, device="meta")
    inputs: dict[str, Any] = {"input_ids": ids}
    if config.is_encoder_decoder:
        inputs["decoder_input_ids"] = ids
        if getattr(config, "num_mel_bins", None):  # speech: the input fills all positions, two frames each
            frames = 2 * config.max_source_positions
            inputs.pop("input_ids")
            inputs["input_features"] = torch.zeros(
                batch, config.num_mel_bins, frames, device="meta", dtype=next(model.parameters()).dtype
            )
        else:
            inputs["input_ids"] = torch.zeros(batch, encoder_tokens, dtype=torch.long, device="meta")
    with torch.no_grad():
        return model(**inputs, use_cache=True)


def _cache_of(output: Any) -> list[MeasuredCache]:
    cache = getattr(output, "past_key_values", None)
    cache = getattr(output, "cache_params", None) if cache is None else cache
    if cache is None:
        return []
    if hasattr(cache, "cross_attention_cache"):
        parts = {"self": cache.self_attention_cache, "cross": cache.cross_attention_cache}
    else:
        parts = {"self": cache}
    return [_measured(role, i, layer) for role, part in parts.items() for i, layer in enumerate(part.layers)]


def _measured(role: str, index: int, layer: Any) -> MeasuredCache:
    tensors = dict(_tensors(layer))
    return MeasuredCache(
        role,
        index,
        type(layer).__name__,
        sum(t.numel() * t.element_size() for t in tensors.values()),
        sum(t.untyped_storage().nbytes() for t in tensors.values()),
        sum(t.numel() for t in tensors.values()),
        tuple(f"{name} {tuple(t.shape)}" for name, t in tensors.items()),
        getattr(layer, "sliding_window", None),
    )


def _tensors(layer: Any) -> list[tuple[str, Tensor]]:
    """Every tensor that a cache layer stores for later steps, each with a name."""
    found = []
    for name, value in vars(layer).items():
        if name.startswith("_"):
            continue
        many = value.items() if isinstance(value, dict) else [("", value)]
        found += [(f"{name}{i}", t) for i, t in many if isinstance(t, Tensor) and t.numel()]
    return found


# imported from its module: the names of the transformers package are incomplete while another thread imports it


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
