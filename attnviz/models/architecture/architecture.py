"""A model's attention as numbers: parameters, FLOPs and cache bytes, layer by layer, from its config alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any

from transformers.configuration_utils import PretrainedConfig

from attnviz.base.message import Problem
from attnviz.core.costs import Flops, Parameters
from attnviz.models.architecture import config_to_layers
from attnviz.models.architecture.configs import FAMILIES, config_from, max_context, text_part, unread_fields
from attnviz.models.architecture.layer_spec import PAGED, Convention, LayerSpec, Paged
from attnviz.models.architecture.presets import find_preset


@dataclass(frozen=True)
class Architecture:
    """The attention layers of one model.

    `measured` is True when there are no rules for the model's family, so that its layers were measured on the
    meta device instead.
    """

    name: str
    model_type: str
    layers: tuple[LayerSpec, ...]
    max_context: int | None = None
    config: PretrainedConfig | None = field(default=None, compare=False, repr=False)
    measured: bool = False
    heard: int | None = None  #: positions its encoder always reads, however little is said (Whisper)
    unread: tuple[str, ...] = ()  #: config fields that sound like attention and that no rule reads

    @classmethod
    def from_config(cls, config: PretrainedConfig | dict[str, Any], name: str | None = None) -> Architecture:
        """From any transformers config, or the contents of a config.json."""
        whole = config if isinstance(config, PretrainedConfig) else config_from(config)
        text = whole if whole.is_encoder_decoder else text_part(whole)
        family = FAMILIES.get(text.model_type)
        unread = unread_fields(config if isinstance(config, dict) else whole.to_dict(), whole)
        try:
            layers = config_to_layers.read(text, family) if family else config_to_layers.measured_layers(text)
        except config_to_layers.UnknownLayer:
            family, layers, unread = None, config_to_layers.measured_layers(text), (*unread, "layer_types")
        # speech is padded or cut to 30 seconds before Whisper's encoder reads it
        heard = text.max_source_positions if text.model_type == "whisper" else None
        return cls(
            name or text.model_type, text.model_type, layers, max_context(text), text, family is None, heard, unread
        )

    @classmethod
    @cache
    def preset(cls, name: str) -> Architecture:
        """The architecture of a published model, by its preset name."""
        preset = find_preset(name)
        whole = cls.from_config({"model_type": preset.model_type, **preset.config}, preset.id)
        return replace(whole, max_context=preset.max_context or whole.max_context, unread=())

    @property
    def decodes(self) -> bool:
        """Whether it writes token after token; an encoder reads everything at once and keeps no cache."""
        return any(
            la.cached or la.fixed or la.fixed_float32 or not self.measured
            for la in self.layers
            if la.stack == "decoder"
        )

    @property
    def blocks(self) -> int:
        """Layers as a model's config counts them: a decoder layer that also looks at an encoder is one, not two."""
        return len({(layer.stack, layer.index) for layer in self.layers})

    def encoder_tokens(self, tokens: int) -> int:
        """Tokens its encoder reads for a text of `tokens`: as many, or what it always reads; 0 without an encoder."""
        return (self.heard or tokens) if any(layer.role == "cross" for layer in self.layers) else 0

    def parameters(self) -> Parameters:
        """Attention parameters of the whole model, by kind."""
        return sum((layer.parameters for layer in self.layers), Parameters())

    def attention_parameters(self) -> int:
        """Number of attention parameters in the whole model."""
        return self.parameters().total

    def kv_cache_bytes(
        self,
        tokens: int,
        batch: int = 1,
        dtype: str = "bfloat16",
        convention: Convention = "ideal",
        encoder_tokens: int = 0,
        group: int = 64,
        paged: Paged = PAGED,
    ) -> int:
        """Cache bytes of `batch` sequences of `tokens` tokens; cross-attention layers cache `encoder_tokens` instead.

        `convention` says whose rules for what is stored apply; `group` is the quantisation group in numbers.
        """
        _check(tokens, batch, encoder_tokens)
        lengths = {"self": tokens, "cross": encoder_tokens}
        return batch * sum(
            n * layer.cache_bytes(lengths[layer.role], dtype, convention, group, paged) for layer, n in self._alike
        )

    def bytes_by_layer(
        self,
        tokens: int,
        batch: int = 1,
        dtype: str = "bfloat16",
        convention: Convention = "ideal",
        encoder_tokens: int = 0,
    ) -> Iterator[tuple[LayerSpec, int]]:
        """Each layer with the bytes of its cache; arguments as in `kv_cache_bytes`."""
        _check(tokens, batch, encoder_tokens)
        lengths = {"self": tokens, "cross": encoder_tokens}
        for layer in self.layers:
            yield layer, batch * layer.cache_bytes(lengths[layer.role], dtype, convention)

    def prefill_flops(self, tokens: int, *, causal: bool = False, encoder_tokens: int | None = None) -> Flops:
        """Attention FLOPs to process `tokens` tokens in one pass; an encoder beside it reads as many unless said.

        `causal` skips what a decoder's mask hides; encoders and cross-attention look everywhere.
        """
        read = tokens if encoder_tokens is None else encoder_tokens
        encoded = read if self.decodes else tokens
        total = Flops(0, 0, 0)
        for layer, n in self._alike:
            if layer.role == "cross":
                work = layer.cross_flops(tokens, read, prepare=True)
            elif layer.stack == "encoder":
                work = layer.flops(encoded, encoded, machine="expanded")
            else:
                work = layer.flops(tokens, tokens, causal=causal, machine="expanded")
            total = total + work * n
        return total

    def decode_flops(self, context: int, *, encoder_tokens: int | None = None) -> Flops:
        """Attention FLOPs to decode one token that sees `context` tokens, itself included (fewer with a window).

        Cross-attention looks at `encoder_tokens` (as many unless said), whose keys and values are kept.
        """
        heard = context if encoder_tokens is None else encoder_tokens
        total = Flops(0, 0, 0)
        for layer, n in self._alike:
            if layer.role == "cross":
                total = total + layer.cross_flops(1, heard) * n
            elif layer.stack == "decoder":
                total = total + layer.flops(1, context, causal=True, machine="absorbed") * n
        return total

    @cached_property
    def _alike(self) -> tuple[tuple[LayerSpec, int], ...]:
        """The distinct layers, ignoring their index, each with how often it occurs."""
        return tuple(Counter(replace(layer, index=0) for layer in self.layers).items())


def _check(tokens: int, batch: int, encoder_tokens: int) -> None:
    most = 1 << 40
    for name, value, least in (("tokens", tokens, 0), ("batch", batch, 1), ("encoder_tokens", encoder_tokens, 0)):
        if not isinstance(value, int) or not least <= value <= most:
            raise Problem(
                "{name}={value} must be a whole number from {least} to {most}",
                name=name,
                value=value,
                least=least,
                most=most,
            )
