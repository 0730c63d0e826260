"""Architectures from a few numbers: a shape that the visitor enters, and any model with its K/V heads changed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from attnviz.base.message import Problem
from attnviz.core.costs import parameters
from attnviz.core.heads import HeadLayout
from attnviz.core.latent import LatentLayout, latent_elements, latent_parameters
from attnviz.models.architecture.architecture import Architecture
from attnviz.models.architecture.layer_spec import LayerSpec
from attnviz.models.architecture.meta_device import ParameterCounts

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
            if not 1 <= getattr(self, name) <= most:
                raise Problem(
                    "{name}={value} must be a whole number from 1 to {most}",
                    name=name,
                    value=getattr(self, name),
                    most=most,
                )
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
    def total_parameters(self) -> int:
        """Parameters of the whole model: attention, gated FFN, two norms per layer, final norm, embeddings and head."""
        m, ffn = self.d_model, 3 * self.d_model * self.d_ff
        return self.architecture().attention_parameters() + self.n_layers * (ffn + 2 * m) + m + 2 * self.vocab * m

    @property
    def counts(self) -> ParameterCounts:
        """The embedding is a table of its own: one row of it is looked up for a token."""
        read = self.total_parameters - self.vocab * self.d_model
        return ParameterCounts(self.total_parameters, read, read)

    def architecture(self, name: str = "your shape") -> Architecture:
        """The architecture of this shape, with the same formulas as for published models."""
        return Architecture.from_config(self.fields, name)


def shared_otherwise(arch: Architecture, n_kv_heads: int) -> Architecture:
    """The same model with `n_kv_heads` key/value heads in every layer that has its own; MLA is expanded first."""
    return replace(arch, layers=tuple(_reshared(layer, n_kv_heads) for layer in arch.layers), config=None)


def as_latent(arch: Architecture, kv_rank: int = 512, d_rope: int = 64) -> Architecture:
    """The same model with MLA in place of its heads; by default with the latent widths of DeepSeek, 512 + 64."""
    return replace(arch, layers=tuple(_latent(layer, kv_rank, d_rope) for layer in arch.layers), config=None)


def has_heads(layer: LayerSpec) -> bool:
    """Whether the layer projects its own keys and values."""
    return layer.n_heads > 0 and layer.kind not in ("shared", "none", "linear")


def _reshared(layer: LayerSpec, n_kv_heads: int) -> LayerSpec:
    if not has_heads(layer):
        return layer
    d_head, d_value = layer.d_head, layer.d_value
    plain = parameters(HeadLayout(layer.d_model, layer.n_heads, n_kv_heads, d_head, d_value))  # which must share evenly
    count = replace(layer.parameters, w_k=plain.w_k, w_v=plain.w_v)
    if layer.parameters.biases:  # the biases of keys and values change with their width
        count = replace(count, biases=max(0, count.biases - (layer.n_kv_heads - n_kv_heads) * (d_head + d_value)))
    if layer.latent is not None:
        count = plain
    cached = n_kv_heads * (d_head + d_value) if layer.stack == "decoder" else 0
    kind = "full" if layer.kind == "latent" else layer.kind
    return replace(layer, n_kv_heads=n_kv_heads, parameters=count, cached=cached, held=None, latent=None, kind=kind)


def _latent(layer: LayerSpec, kv_rank: int, d_rope: int) -> LayerSpec:
    if not has_heads(layer) or layer.latent is not None:
        return layer
    mla = LatentLayout(layer.d_model, layer.n_heads, None, kv_rank, layer.d_head, d_rope, layer.d_value)
    return replace(
        layer, kind="latent", latent=mla, parameters=latent_parameters(mla), held=None,
        cached=latent_elements(mla) if layer.stack == "decoder" else 0,
        n_kv_heads=layer.n_heads, d_head=layer.d_head + d_rope,
    )  # fmt: skip
