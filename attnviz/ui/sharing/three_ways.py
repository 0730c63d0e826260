"""MHA, GQA and MQA side by side: query heads over K/V heads, shapes, parameters and the bytes of a cache."""

from __future__ import annotations

import streamlit as st

from attnviz.figures import sharing_figures as figures
from attnviz.models.architecture import Architecture, has_heads, shared_otherwise
from attnviz.ui.sharing.units import binary
from attnviz.ui.sharing.variants import kind_of
from attnviz.words import _


def columns(arch: Architecture, tokens: int, batch: int = 1, key: str = "h-three") -> None:
    """Draw one model as MHA, as GQA and as MQA, with what each keeps for so many tokens."""
    layer = next(each for each in arch.layers if has_heads(each))
    heads, own = layer.n_heads, layer.n_kv_heads
    shared = own if 1 < own < heads else max((g for g in range(2, heads) if heads % g == 0), default=heads)
    ways = tuple(dict.fromkeys((heads, shared, 1)))
    for column, g in zip(st.columns(len(ways), gap="small"), ways, strict=True):
        with column, st.container(border=True, gap="xxsmall", height="stretch"):
            kind = _("**{kind}**, as trained") if g == own else "**{kind}**"
            st.markdown(kind.format(kind=kind_of(heads, g)))
            drawn = figures.wiring([head * g // heads for head in range(heads)], g)
            st.plotly_chart(drawn, key=f"{key}-{g}", config={"displayModeBar": False})
            other = shared_otherwise(arch, g)
            st.markdown(
                _(
                    "{h} query heads over {g} K/V heads  \nK and V: {g} × {tokens} × {width} in each of {layers} "
                    "layers  \nattention weights: {parameters:.2f} billion  \ncache: **{bytes}**"
                ).format(
                    h=heads,
                    g=g,
                    tokens=f"{tokens:,}",
                    width=layer.d_head,
                    layers=arch.blocks,
                    parameters=other.attention_parameters() / 1e9,
                    bytes=binary(other.kv_cache_bytes(tokens, batch)),
                )
            )
