"""One architecture with its heads shared as MHA, GQA, MQA and MLA, and what each variant costs."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from attnviz.base.words import _
from attnviz.core.costs import Activations, activations
from attnviz.models.architecture import Architecture, as_latent, has_heads, shared_otherwise


@dataclass(frozen=True)
class Bill:
    """What one way of sharing costs, in FLOPs and bytes of the whole model's attention."""

    name: str
    arch: Architecture
    parameters: dict[str, int]  #: by matrix
    prefill: int  #: FLOPs, every pair computed
    prefill_causal: int  #: FLOPs of a kernel that skips what the mask hides
    decode: int
    intensity: float | None  #: FLOPs of decode attention per byte of cache read, 16 bit
    eager: Activations | None  #: of one layer, counted in numbers, not bytes
    fused: Activations | None
    per_token: int  #: bytes that one more token adds, 16 bit, while no window is full


def ways(arch: Architecture) -> dict[str, Architecture]:
    """By name: the architecture itself, then the same with other numbers of K/V heads, and with MLA."""
    heads = [layer for layer in arch.layers if has_heads(layer)]
    if not heads:
        return {_as_is(arch): arch}
    found = {_as_is(arch): arch}
    own = None if heads[0].latent else heads[0].n_kv_heads
    common = [g for g in range(1, heads[0].n_heads + 1) if all(layer.n_heads % g == 0 for layer in heads)]
    most = heads[0].n_heads
    for g in sorted({most, 8, 1} & set(common), reverse=True):
        if g != own:
            found[_kind(most, g)] = shared_otherwise(arch, g)
    if not any(layer.latent for layer in heads) and all(layer.stack == "decoder" for layer in heads):
        found["MLA 512 + 64"] = as_latent(arch)
    return found


def kind_of(heads: int, kv_heads: int) -> str:
    """What people call this sharing of heads."""
    return "MHA" if kv_heads == heads else "MQA" if kv_heads == 1 else "GQA"


def named(heads: int, kv_heads: int) -> str:
    """The kind of sharing and its number of K/V heads: "GQA 3"."""
    return f"{kind_of(heads, kv_heads)} {kv_heads}"


def _kind(heads: int, kv_heads: int) -> str:
    kind = kind_of(heads, kv_heads)
    return kind if kind == "MQA" else f"{kind}-{kv_heads}"


def _as_is(arch: Architecture) -> str:
    layer = next((layer for layer in arch.layers if has_heads(layer)), None)
    kind = "" if layer is None else "MLA" if layer.latent else _kind(layer.n_heads, layer.n_kv_heads)
    return f"{arch.name} ({kind})" if kind else arch.name


@st.cache_resource(max_entries=128, show_spinner=False, hash_funcs={Architecture: hash})
def bills(arch: Architecture, context: int, batch: int) -> list[Bill]:
    """The bill of every way of sharing, for a prompt of `context` tokens."""
    return [_bill(name, way, context, batch) for name, way in ways(arch).items()]


def _bill(name: str, arch: Architecture, context: int, batch: int) -> Bill:
    count = arch.parameters()
    parts = {part: getattr(count, part) for part in ("w_q", "w_k", "w_v", "w_o", "w_down")}
    parts["rest"] = count.biases + count.norms + count.other
    heard = arch.encoder_tokens(context)
    step = arch.decode_flops(context, encoder_tokens=heard)
    read = arch.kv_cache_bytes(context, encoder_tokens=heard)
    layer = next((layer for layer in arch.layers if has_heads(layer)), None)
    return Bill(
        name,
        arch,
        parts,
        batch * arch.prefill_flops(context, encoder_tokens=heard or None).total,
        batch * arch.prefill_flops(context, causal=True, encoder_tokens=heard or None).total,
        batch * step.total,
        (step.scores + step.values) / read if read else None,
        None if layer is None else activations(layer.layout, context, batch),
        None if layer is None else activations(layer.layout, context, batch, "fused"),
        arch.kv_cache_bytes(1),
    )


def part_titles() -> dict[str, str]:
    return {
        "w_q": "W_Q",
        "w_k": "W_K",
        "w_v": "W_V",
        "w_o": "W_O",
        "w_down": _("down to latents"),
        "rest": _("biases, norms, sinks"),
    }
