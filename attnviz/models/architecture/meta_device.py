"""Measure a model without loading it: built on torch's `meta` device, where tensors have shapes but no memory."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from attnviz.base.message import Message
from attnviz.models.architecture.configs import FAMILIES
from attnviz.models.architecture.layer_spec import LayerSpec

if TYPE_CHECKING:
    from transformers.configuration_utils import PretrainedConfig

SHAPES_ONLY = "attnviz_shapes_only"
#: Class names of softmax attention modules; T5's LayerSelfAttention is the block around the attention module.
_ATTENTION = re.compile(r"(?<!Layer)(?<!LayerSelf)(?<!LayerCross)(Attention|Attn)$")
_NOT_SOFTMAX = re.compile(r"(Linear|Delta|Lightning|LayerSelf|LayerCross|LayerLocal|LayerTransientGlobal)\w*Attention$")
#: Norms that some families place inside the attention module although they belong to the block.
_BLOCK_NORM = re.compile(r"(^|\.)(LayerNorm|layer_norm|self_attn_layer_norm|ln)\.")

#: fields of a mixture: how many experts it has, and how many of them a token goes through
_EXPERTS = ("num_local_experts", "n_routed_experts", "num_experts")
_CHOSEN = ("num_experts_per_tok", "num_experts_per_token", "moe_topk")


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
    modules: tuple[int, ...]  #: parameters of each attention module, each once even if it runs several times
    cache: tuple[MeasuredCache, ...]
    seconds: float
    failure: Message | None = None  #: why the pass failed; None when it succeeded

    @property
    def attention_parameters(self) -> int:
        return sum(self.modules)

    @property
    def cache_bytes(self) -> int:
        return sum(layer.nbytes for layer in self.cache)


def measure_on_meta(
    config: PretrainedConfig,
    tokens: int = 16,
    batch: int = 1,
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
            model = build(config, implementation)
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
    return Measurement(
        sum(p.numel() for p in model.parameters()),
        tuple(
            sum(p.numel() for name, p in module.named_parameters() if not _BLOCK_NORM.search(name))
            for module in attention_modules(model)
        ),
        cache,
        time.perf_counter() - started,
        failure,
    )


def build(config: PretrainedConfig, implementation: str = SHAPES_ONLY) -> nn.Module:
    """The model of `config` in bfloat16 on the meta device, with its language-modelling head if it writes.

    An encoder has none, and its pooler instead, although transformers could make a decoder of many of them.
    """
    # by module: the names of the transformers package are incomplete while another thread imports it
    from transformers.models.auto.modeling_auto import (
        MODEL_FOR_CAUSAL_LM_MAPPING,
        MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING,
        AutoModel,
        AutoModelForCausalLM,
        AutoModelForSeq2SeqLM,
    )

    _register_shapes_only()
    auto: Any = AutoModel
    family = FAMILIES.get(config.model_type)
    only_reads = family is not None and family.shape == "encoder" and not getattr(config, "is_decoder", False)
    if config.is_encoder_decoder and type(config) in MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING:
        auto = AutoModelForSeq2SeqLM
    elif not config.is_encoder_decoder and not only_reads and type(config) in MODEL_FOR_CAUSAL_LM_MAPPING:
        auto = AutoModelForCausalLM
    with torch.device("meta"):
        model: nn.Module = auto.from_config(config, dtype=torch.bfloat16, attn_implementation=implementation)
    return model.eval()


def attention_modules(model: nn.Module) -> Iterator[nn.Module]:
    """The outermost modules with softmax attention."""
    for child in model.children():
        kind = type(child).__name__
        if _ATTENTION.search(kind) and not _NOT_SOFTMAX.search(kind):
            yield child
        else:
            yield from attention_modules(child)


def _run(model: nn.Module, tokens: int, batch: int, encoder_tokens: int) -> Any:
    config: Any = model.config
    ids, read = (torch.zeros(batch, n, dtype=torch.long, device="meta") for n in (tokens, encoder_tokens))
    if not config.is_encoder_decoder:
        inputs = {"input_ids": ids}
    elif getattr(config, "num_mel_bins", None):  # speech: the input fills all positions, two frames each
        dtype, frames = next(model.parameters()).dtype, 2 * config.max_source_positions
        inputs = {
            "input_features": torch.zeros(batch, config.num_mel_bins, frames, device="meta", dtype=dtype),
            "decoder_input_ids": ids,
        }
    else:
        inputs = {"input_ids": read, "decoder_input_ids": ids}
    with torch.no_grad():
        return model(**inputs, use_cache=True)


def _cache_of(output: Any) -> list[MeasuredCache]:
    cache = getattr(output, "past_key_values", None)
    cache = getattr(output, "cache_params", None) if cache is None else cache
    if cache is None:
        return []
    cross = getattr(cache, "cross_attention_cache", None)
    caches = {"self": cache} if cross is None else {"self": cache.self_attention_cache, "cross": cross}
    return [
        _measure_layer_cache(role, i, layer)
        for role, layer_cache in caches.items()
        for i, layer in enumerate(layer_cache.layers)
    ]


def _measure_layer_cache(role: str, index: int, layer: Any) -> MeasuredCache:
    """The tensors that a cache layer stores for later steps; a field may hold several by number."""
    public = {name: value for name, value in vars(layer).items() if not name.startswith("_")}
    tensors = {
        f"{name}{i}": tensor
        for name, value in public.items()
        for i, tensor in (value.items() if isinstance(value, dict) else [("", value)])
        if isinstance(tensor, Tensor) and tensor.numel()
    }
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


@cache
def _register_shapes_only() -> None:
    """Make `SHAPES_ONLY` known to transformers, which is imported here: only measuring needs it."""
    from transformers.masking_utils import AttentionMaskInterface
    from transformers.modeling_utils import AttentionInterface

    AttentionInterface.register(SHAPES_ONLY, _shapes_only)
    AttentionMaskInterface.register(SHAPES_ONLY, lambda *args, **kwargs: None)


@dataclass(frozen=True)
class ParameterCounts:
    """Of one model. A table of which one row is looked up (an untied input embedding, positions) costs no step."""

    total: int  #: stored
    read: int  #: read by a decoding step of a large batch: no tables, no encoder, every expert
    active: int  #: of these, what one token is multiplied with: the experts it uses


def count_parameters(config: PretrainedConfig, layers: Sequence[LayerSpec]) -> ParameterCounts:
    """Count parameters on the meta device; `layers` gives cross-attention's projections, which no step repeats."""
    model: Any = build(config, "eager")
    total = sum(p.numel() for p in model.parameters())
    idle = {id(p): p.numel() for p in _idle_parameters(model)}
    read = (
        total - sum(idle.values()) - sum(la.parameters.w_k + la.parameters.w_v for la in layers if la.role == "cross")
    )
    return ParameterCounts(total, read, read - _count_unused_experts(model))


def _idle_parameters(model: Any) -> Iterator[nn.Parameter]:
    """Parameters that a decoding step leaves alone: tables that are looked up, and the encoder, which has finished."""
    head = model.get_output_embeddings()
    if head is None and getattr(model.config, "tie_word_embeddings", False):
        head = model.get_input_embeddings()  # built without its head, which would be this very table
    head_ids = {id(p) for p in head.parameters()} if head is not None else set()
    idle_modules = [module for module in model.modules() if isinstance(module, nn.Embedding)]
    if model.config.is_encoder_decoder:
        idle_modules.append(model.get_encoder())
    yield from (p for module in idle_modules for p in module.parameters() if id(p) not in head_ids)


def count_experts(config: Any) -> tuple[int, int]:
    """How many experts each mixture has, and how many of them a token goes through; 0 where there are none."""
    text = config.get_text_config()
    experts, chosen = (
        next((number for name in names if isinstance(number := getattr(text, name, None), int)), 0)
        for names in (_EXPERTS, _CHOSEN)
    )
    return experts, chosen


def _count_unused_experts(model: Any) -> int:
    """Parameters of the experts that one token does not go through."""
    experts, chosen = count_experts(model.config)
    if not experts or not chosen:
        return 0
    routed = (module for name, module in model.named_modules() if name.rpartition(".")[2] == "experts")
    return sum(p.numel() // experts * (experts - chosen) for module in routed for p in module.parameters())
