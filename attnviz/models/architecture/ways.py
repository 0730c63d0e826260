"""One model with its keys and values shared or kept otherwise: as MHA, GQA, MQA, and compressed, as MLA."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from attnviz.core.costs import Compressed, count_parameters
from attnviz.core.heads import HeadLayout, sharing_kind
from attnviz.core.latent import LatentLayout
from attnviz.models.architecture.architecture import Architecture
from attnviz.models.architecture.layer_spec import LayerSpec


def latent_scheme(kv_rank: int, d_rope: int) -> Callable[[LayerSpec], LatentLayout]:
    """MLA in place of a layer's heads, with latents and a rotary key of these widths."""
    return lambda of: LatentLayout(of.d_model, of.n_heads, None, kv_rank, of.d_head, d_rope, of.d_value)


#: what a layer may keep that is smaller than its keys and values, by name; MLA with the widths of DeepSeek
SMALLER: dict[str, Callable[[LayerSpec], Compressed]] = {"MLA 512 + 64": latent_scheme(512, 64)}


def sharing_schemes(arch: Architecture) -> dict[str, Architecture]:
    """Architectures by name: the model itself, then with other numbers of K/V heads, then with a compressed cache."""
    heads = [layer for layer in arch.layers if has_heads(layer)]
    if not heads:
        return {arch.name: arch}
    most, latent = heads[0].n_heads, heads[0].compressed
    trained = None if latent else heads[0].n_kv_heads
    by_name = {f"{arch.name} ({latent.name if latent else _scheme_label(most, heads[0].n_kv_heads)})": arch}
    for g in sorted({most, 8, 1} & set(kv_head_divisors(heads)) - {trained}, reverse=True):
        by_name[_scheme_label(most, g)] = with_kv_heads(arch, g)
    if not latent and all(layer.stack == "decoder" for layer in heads):
        by_name |= {name: with_compressed_cache(arch, make) for name, make in SMALLER.items()}
    return by_name


def has_heads(layer: LayerSpec) -> bool:
    """Whether the layer projects its own keys and values."""
    return layer.n_heads > 0 and layer.kind not in ("shared", "none", "linear")


def kv_head_divisors(layers: Sequence[LayerSpec]) -> list[int]:
    """Numbers of K/V heads that divide the query heads of all these layers."""
    return [g for g in range(1, layers[0].n_heads + 1) if all(layer.n_heads % g == 0 for layer in layers)]


def scheme_name(heads: int, kv_heads: int) -> str:
    """The kind of sharing and its number of K/V heads: "GQA 3"."""
    return f"{sharing_kind(heads, kv_heads)} {kv_heads}"


def _scheme_label(heads: int, kv_heads: int) -> str:
    kind = sharing_kind(heads, kv_heads)
    return kind if kind == "MQA" else f"{kind}-{kv_heads}"


def with_kv_heads(arch: Architecture, n_kv_heads: int) -> Architecture:
    """The same model with `n_kv_heads` key/value heads in every layer that has its own; MLA is expanded first."""
    return replace(arch, layers=tuple(_set_kv_heads(layer, n_kv_heads) for layer in arch.layers), config=None)


def with_compressed_cache(arch: Architecture, make: Callable[[LayerSpec], Compressed]) -> Architecture:
    """The same model with `make(layer)` as the compressed cache of each layer."""
    return replace(arch, layers=tuple(_compress_layer(layer, make) for layer in arch.layers), config=None)


def _set_kv_heads(layer: LayerSpec, n_kv_heads: int) -> LayerSpec:
    if not has_heads(layer):
        return layer
    d_head, d_value = layer.d_head, layer.d_value
    plain = count_parameters(
        HeadLayout(layer.d_model, layer.n_heads, n_kv_heads, d_head, d_value)
    )  # which must share evenly
    count = replace(layer.parameters, w_k=plain.w_k, w_v=plain.w_v)
    if layer.parameters.biases:  # the biases of keys and values change with their width
        count = replace(count, biases=max(0, count.biases - (layer.n_kv_heads - n_kv_heads) * (d_head + d_value)))
    if layer.compressed is not None:
        count = plain
    cached = n_kv_heads * (d_head + d_value) if layer.stack == "decoder" else 0
    return replace(
        layer, n_kv_heads=n_kv_heads, parameters=count, cached=cached, transformers_cached=None, compressed=None,
        kind="full" if layer.kind == "latent" else layer.kind,
    )  # fmt: skip


def _compress_layer(layer: LayerSpec, make: Callable[[LayerSpec], Compressed]) -> LayerSpec:
    if not has_heads(layer) or layer.compressed is not None:
        return layer
    small = make(layer)
    return replace(
        layer, kind="latent", compressed=small, parameters=small.parameters, transformers_cached=None,
        cached=small.elements() if layer.stack == "decoder" else 0,
        n_kv_heads=layer.n_heads, d_head=small.expanded.qk_width,
    )  # fmt: skip
