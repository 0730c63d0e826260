"""MHA, GQA and MQA side by side: query heads over K/V heads, shapes, parameters, the bytes of a cache, one head."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from attnviz.app.units import binary, many
from attnviz.base.words import _
from attnviz.canvas import component
from attnviz.models.architecture import Architecture, has_heads, shared_otherwise
from attnviz.pages.sharing.figures.svg_three_ways import SharingColumn
from attnviz.pages.sharing.panels.variants import kind_of


@dataclass(frozen=True)
class SharedHead:
    """What one head of a trained layer becomes when its layer shares keys and values in one of the ways."""

    weights: np.ndarray  #: (Q, K), NaN where masked
    said: str


def columns(arch: Architecture, tokens: int, batch: int = 1, key: str = "h-three") -> None:
    """Draw one model as MHA, as GQA and as MQA, with what each keeps for so many tokens."""
    draw(columns_of(arch, tokens, batch), key)


def draw(shown: list[SharingColumn], key: str) -> None:
    """The columns beside each other; on a phone below each other. Next and previous of a presentation stop here."""
    with st.container(key=f"canvas-of-{key}"):
        for at, (column, one) in enumerate(zip(st.columns(len(shown), gap="small"), shown, strict=True)):
            with column, st.container(border=True, height="stretch"):
                component("picture")(key=f"{key}-{at}", data={"svg": one.on_page()})


def columns_of(
    arch: Architecture, tokens: int, batch: int = 1, heads: dict[str, SharedHead] | None = None
) -> list[SharingColumn]:
    """A column for each way; `heads` is the trained head under each, by the name of the way."""
    layer = next(each for each in arch.layers if has_heads(each))
    own = layer.n_kv_heads
    ways = {g: shared_otherwise(arch, g) for g in counts(arch)}
    most = ways[layer.n_heads].kv_cache_bytes(tokens, batch)
    shown = []
    for g, way in ways.items():
        kind = kind_of(layer.n_heads, g)
        kept = way.kv_cache_bytes(tokens, batch)
        shape = " × ".join(f"{n:,}" for n in (*([batch] if batch > 1 else []), g, tokens, layer.d_head))
        column = SharingColumn(
            _("{kind}, as trained").format(kind=kind) if g == own else kind,
            layer.n_heads,
            g,
            (
                _("K and V: {shape} each, in {layers} layers").format(shape=shape, layers=_layers(arch)),
                _("attention’s parameters: {n}").format(n=many(way.attention_parameters())),
            ),
            _("cache: {bytes}").format(bytes=binary(kept)),
            kept / most,
        )
        head = (heads or {}).get(kind)
        shown.append(column if head is None else replace(column, weights=head.weights, said=head.said))
    return shown


def counts(arch: Architecture) -> tuple[int, ...]:
    """Numbers of K/V heads of MHA, of one GQA (the model's own, else the smallest there is), and of MQA."""
    layers = [each for each in arch.layers if has_heads(each)]
    heads, own = layers[0].n_heads, layers[0].n_kv_heads
    between = [g for g in range(2, heads) if all(layer.n_heads % g == 0 for layer in layers)]
    shared = [own] if own in between else [8] if 8 in between else between[:1]
    return tuple(dict.fromkeys((heads, *shared, 1)))


def _layers(arch: Architecture) -> int:
    """How many layers keep keys and values of their own."""
    return sum(has_heads(layer) for layer in arch.layers)
