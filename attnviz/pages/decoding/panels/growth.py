"""Section 2: the same shape as MHA, GQA, MQA and MLA, its cache growing; Llama-3.1-8B beside it."""

from __future__ import annotations

import streamlit as st

from attnviz.app import show, widgets
from attnviz.app.cache.kept_charts import chart_of
from attnviz.app.code_snippet import snippet
from attnviz.app.links import link_state
from attnviz.base import units
from attnviz.base.words import _, listed, ngettext
from attnviz.canvas import cache_growth
from attnviz.figures.theme import SERIES
from attnviz.models.architecture import Architecture
from attnviz.pages.decoding import choices, figures
from attnviz.pages.decoding.maths import decoding_snippets, growing_bytes
from attnviz.pages.decoding.panels import decoder_form

grown = st.cache_resource(max_entries=32, show_spinner=False, hash_funcs={Architecture: hash})(growing_bytes.run)


def panel() -> None:
    which, how_many, kind = st.columns([2, 1, 1], vertical_alignment="bottom")
    with which:
        name = decoder_form.choose()
    with how_many:
        tokens = widgets.number(choices.TOKENS, _("Tokens at the end"), step=1024)
    with kind:
        dtype = widgets.one_of(choices.DTYPE, _("Numbers"), {each: each for each in choices.DTYPES}, style="select")
    result = grown(decoder_form.architecture_of(name), growing_bytes.Config(tokens, dtype))
    last, asked = len(result.tokens) - 1, link_state.value(choices.GROWN)
    at = last if asked is None else min(asked, last)
    cache_growth.cache_growth(
        "d_growth",
        result.tokens,
        [_group(model) for model in result.models],
        at=at,
        on_tokens=lambda place: link_state.put(choices.GROWN, None if place == last else place),
    )
    _curves(result, at)
    about = _("Paste this code into a notebook: it prints the bytes of Llama-3.1-8B at this number of tokens.")
    snippet(decoding_snippets.growing(result, at), "decoding-bytes", about=about)


def _group(model: growing_bytes.GrowingModel) -> cache_growth.GrowingGroup:
    return cache_growth.GrowingGroup(
        model.name,
        [
            cache_growth.GrowingBar(scheme.name, _heads(scheme), SERIES[n], scheme.bytes)
            for n, scheme in enumerate(model.schemes)
        ],
    )


def _heads(scheme: growing_bytes.GrowingScheme) -> str:
    if not scheme.kv_heads:
        return _("one latent")
    if scheme.own:
        return ngettext("{n} K/V head, its own", "{n} K/V heads, its own", scheme.kv_heads).format(n=scheme.kv_heads)
    return ngettext("{n} K/V head", "{n} K/V heads", scheme.kv_heads).format(n=scheme.kv_heads)


def _curves(result: growing_bytes.Result, at: int) -> None:
    for column, model in zip(st.columns(len(result.models), gap="medium"), result.models, strict=True):
        with column:
            show.figure(
                chart_of(figures.growth, result.tokens, {s.name: s.bytes for s in model.schemes}, at),
                name=f"cache-growth-{model.name}",
                key=f"d_growth_{model.name}",
                words=_words(model, result.tokens[at], at),
                table={"tokens": list(result.tokens)} | {s.name: list(s.bytes) for s in model.schemes},
            )


def _words(model: growing_bytes.GrowingModel, tokens: int, at: int) -> str:
    own = next((scheme for scheme in model.schemes if scheme.own), model.schemes[0])
    sizes = listed(f"{scheme.name} {units.binary(scheme.bytes[at])}" for scheme in model.schemes)
    said = ngettext(
        "**{model}** adds **{token}** a token as it is ({scheme}). At {tokens} token: {sizes}.",
        "**{model}** adds **{token}** a token as it is ({scheme}). At {tokens} tokens: {sizes}.",
        tokens,
    )
    return said.format(
        model=model.name, token=units.binary(own.per_token), scheme=own.name, tokens=f"{tokens:,}", sizes=sizes
    )
