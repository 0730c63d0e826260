"""Bytes of a growing cache under MHA, GQA, MQA and MLA, for one model and Llama-3.1-8B."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from attnviz.base.message import Problem
from attnviz.models.architecture import Architecture, has_heads, latent_scheme, with_compressed_cache, with_kv_heads

BESIDE, BESIDE_NAME = "llama-3.1-8b", "Llama-3.1-8B"
POINTS = 128
SchemeName = Literal["MHA", "GQA", "MQA", "MLA"]
#: widths of MLA's latent and rotary key as shares of a head's width, as DeepSeek chose them
LATENT_HEADS, ROTARY_HEADS = 4, 0.5


@dataclass(frozen=True)
class Config:
    """How far the cache grows, and the type of its numbers."""

    tokens: int = 8192  #: at the end of the film
    dtype: str = "bfloat16"


@dataclass(frozen=True, eq=False)
class GrowingScheme:
    """Bytes (points,) of all layers' cache under one attention variant, at each number of tokens."""

    name: SchemeName
    kv_heads: int  #: 0 for MLA, which caches latents
    is_native: bool  #: how the model itself does it
    bytes: tuple[int, ...]
    per_token: int


@dataclass(frozen=True, eq=False)
class GrowingModel:
    """One model, with its cache under each variant that its heads allow."""

    name: str
    schemes: tuple[GrowingScheme, ...]
    latent: int  #: numbers that MLA keeps of a token in each layer
    rotary: int  #: and the rotated key's, beside them


@dataclass(frozen=True, eq=False)
class Result:
    """The growing caches of two models over the same numbers of tokens."""

    config: Config
    tokens: tuple[int, ...]  #: (points,), from 0 to the chosen number
    models: tuple[GrowingModel, ...]


def run(small: Architecture, config: Config) -> Result:
    """Grow both models' caches over POINTS + 1 evenly spaced numbers of tokens. Bytes are exact."""
    grid = tuple(int(n) for n in np.unique(np.linspace(0, config.tokens, POINTS + 1).round()))
    both = ((small, small.name), (Architecture.preset(BESIDE), BESIDE_NAME))
    return Result(config, grid, tuple(_build_model(arch, name, grid, config.dtype) for arch, name in both))


def _build_model(arch: Architecture, name: str, grid: tuple[int, ...], dtype: str) -> GrowingModel:
    layer = next((layer for layer in arch.layers if has_heads(layer)), None)
    if layer is None:
        raise Problem("{model} has no layer with keys and values of its own", model=arch.name)
    heads, native_kv_heads = layer.n_heads, layer.n_kv_heads
    gqa_heads = (
        native_kv_heads
        if 1 < native_kv_heads < heads
        else next((g for g in range(heads // 2, 1, -1) if heads % g == 0), 0)
    )
    counts: dict[SchemeName, int] = {"MHA": heads, "GQA": gqa_heads, "MQA": 1}
    variants = {scheme: (g, with_kv_heads(arch, g)) for scheme, g in counts.items() if g}
    latent, rotary = LATENT_HEADS * layer.d_head, max(2, int(layer.d_head * ROTARY_HEADS))
    variants["MLA"] = 0, with_compressed_cache(with_kv_heads(arch, heads), latent_scheme(latent, rotary))
    schemes = (
        GrowingScheme(
            scheme,
            g,
            g == native_kv_heads,
            tuple(variant.kv_cache_bytes(n, dtype=dtype) for n in grid),
            variant.kv_cache_bytes(1, dtype=dtype),
        )
        for scheme, (g, variant) in variants.items()
    )
    return GrowingModel(name, tuple(schemes), latent, rotary)
