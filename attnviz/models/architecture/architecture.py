"""A model's attention as numbers: parameters, FLOPs and cache bytes, layer by layer, from its config alone.

Or from a few numbers: a shape that the visitor enters.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Literal

from attnviz.base.message import require_whole
from attnviz.core.costs import Flops, Parameters
from attnviz.core.heads import HeadLayout
from attnviz.models.architecture import config_to_layers
from attnviz.models.architecture.configs import FAMILIES, config_from_dict, max_context, text_config, unread_fields
from attnviz.models.architecture.layer_spec import PAGED, Convention, LayerSpec, PagedCache
from attnviz.models.architecture.meta_device import ParameterCounts
from attnviz.models.architecture.presets import find_preset

if TYPE_CHECKING:
    from transformers.configuration_utils import PretrainedConfig


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
    config: "PretrainedConfig | None" = field(default=None, compare=False, repr=False)
    measured: bool = False
    fixed_encoder_tokens: int | None = None  #: positions its encoder always reads, however little is said (Whisper)
    unread: tuple[str, ...] = ()  #: config fields that sound like attention and that no rule reads

    @classmethod
    def from_config(cls, config: "PretrainedConfig | dict[str, Any]", name: str | None = None) -> "Architecture":
        """From any transformers config, or the contents of a config.json."""
        full_config = config_from_dict(config) if isinstance(config, dict) else config
        text_part = full_config if full_config.is_encoder_decoder else text_config(full_config)
        family = FAMILIES.get(text_part.model_type)
        unread = unread_fields(config if isinstance(config, dict) else full_config.to_dict(), full_config)
        try:
            layers = (
                config_to_layers.read(text_part, family)
                if family
                else config_to_layers.layers_from_measurement(text_part)
            )
        except config_to_layers.UnknownLayer:
            family, layers, unread = None, config_to_layers.layers_from_measurement(text_part), (*unread, "layer_types")
        # speech is padded or cut to 30 seconds before Whisper's encoder reads it
        fixed_encoder_tokens = text_part.max_source_positions if text_part.model_type == "whisper" else None
        return cls(
            name or text_part.model_type,
            text_part.model_type,
            layers,
            max_context(text_part),
            text_part,
            family is None,
            fixed_encoder_tokens,
            unread,
        )

    @classmethod
    @cache
    def preset(cls, name: str) -> "Architecture":
        """The architecture of a published model, by its preset name."""
        preset = find_preset(name)
        architecture = cls.from_config({"model_type": preset.model_type, **preset.config}, preset.id)
        return replace(architecture, max_context=preset.max_context or architecture.max_context, unread=())

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
        """Encoder tokens for a text of `tokens`: as many, or the encoder's fixed number; 0 without an encoder."""
        return (self.fixed_encoder_tokens or tokens) if any(layer.role == "cross" for layer in self.layers) else 0

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
        paged: PagedCache = PAGED,
    ) -> int:
        """Cache bytes of `batch` sequences of `tokens` tokens; cross-attention layers cache `encoder_tokens` instead.

        `convention` says whose rules for what is stored apply; `group` is the quantisation group in numbers.
        """
        lengths = _lengths(tokens, batch, encoder_tokens)
        return batch * sum(
            n * layer.cache_bytes(lengths[layer.role], dtype, convention, group, paged)
            for layer, n in self._layer_counts
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
        lengths = _lengths(tokens, batch, encoder_tokens)
        for layer in self.layers:
            yield layer, batch * layer.cache_bytes(lengths[layer.role], dtype, convention)

    def prefill_flops(self, tokens: int, *, causal: bool = False, encoder_tokens: int | None = None) -> Flops:
        """Attention FLOPs to process `tokens` tokens in one pass; `encoder_tokens` None: the encoder reads as many.

        `causal` skips what a decoder's mask hides; encoders and cross-attention look everywhere.
        """
        encoder_length = tokens if encoder_tokens is None else encoder_tokens
        encoded = encoder_length if self.decodes else tokens
        total = Flops(0, 0, 0)
        for layer, n in self._layer_counts:
            if layer.role == "cross":
                work = layer.cross_flops(tokens, encoder_length, prepare=True)
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
        visible_encoder_tokens = context if encoder_tokens is None else encoder_tokens
        steps = (
            layer.cross_flops(1, visible_encoder_tokens) * n
            if layer.role == "cross"
            else layer.flops(1, context, causal=True, machine="absorbed") * n
            for layer, n in self._layer_counts
            if layer.stack == "decoder"
        )
        return sum(steps, Flops(0, 0, 0))

    @cached_property
    def _layer_counts(self) -> tuple[tuple[LayerSpec, int], ...]:
        """The distinct layers, ignoring their index, each with how often it occurs."""
        return tuple(Counter(replace(layer, index=0) for layer in self.layers).items())


def _lengths(tokens: int, batch: int, encoder_tokens: int) -> dict[str, int]:
    """The tokens that a layer caches, by its role; a Problem where a number makes no sense."""
    for name, value, least in (("tokens", tokens, 0), ("batch", batch, 1), ("encoder_tokens", encoder_tokens, 0)):
        require_whole(name, value, least, 1 << 40)
    return {"self": tokens, "cross": encoder_tokens}


Scheme = Literal["heads", "latent"]
MOST = {"n_layers": 512, "d_model": 65_536, "n_heads": 1024, "d_head": 2048, "d_ff": 1 << 20, "vocab": 1 << 20}


@dataclass(frozen=True)
class CustomShape:
    """A decoder of identical layers with a gated FFN, like Llama; with `scheme` "latent", with MLA like DeepSeek."""

    n_layers: int = 32
    d_model: int = 4096
    n_heads: int = 32
    n_kv_heads: int = 8
    d_head: int = 128
    scheme: Scheme = "heads"
    kv_rank: int = 512
    d_rope: int = 64
    q_rank: int | None = None
    d_ff: int = 14336
    vocab: int = 128_256
    window: int | None = None

    def __post_init__(self) -> None:
        for name, most in MOST.items():
            require_whole(name, getattr(self, name), 1, most)
        HeadLayout(self.d_model, self.n_heads, self.n_kv_heads, self.d_head)

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of a transformers config that builds this model."""
        common = {
            "hidden_size": self.d_model, "num_hidden_layers": self.n_layers, "num_attention_heads": self.n_heads,
            "intermediate_size": self.d_ff, "vocab_size": self.vocab, "max_position_embeddings": 1 << 20,
        }  # fmt: skip
        if self.scheme == "latent":
            return common | {
                "model_type": "deepseek_v3", "num_key_value_heads": self.n_heads, "q_lora_rank": self.q_rank,
                "kv_lora_rank": self.kv_rank, "qk_nope_head_dim": self.d_head, "qk_rope_head_dim": self.d_rope,
                "v_head_dim": self.d_head, "first_k_dense_replace": self.n_layers,
            }  # fmt: skip
        heads = {"num_key_value_heads": self.n_kv_heads, "head_dim": self.d_head}
        if self.window:
            return common | heads | {"model_type": "mistral", "sliding_window": self.window}
        return common | heads | {"model_type": "llama"}

    @property
    def counts(self) -> ParameterCounts:
        """Of the whole model: attention, gated FFN, two norms per layer, final norm, embeddings and head.

        The embedding is a table of its own: one row of it is looked up for a token.
        """
        m, ffn = self.d_model, 3 * self.d_model * self.d_ff
        read = self.architecture().attention_parameters() + self.n_layers * (ffn + 2 * m) + m + self.vocab * m
        return ParameterCounts(read + self.vocab * m, read, read)

    def architecture(self, name: str = "your shape") -> Architecture:
        """The architecture of this shape, with the same formulas as for published models."""
        return Architecture.from_config(self.fields, name)
