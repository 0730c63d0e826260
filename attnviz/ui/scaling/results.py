"""Results shared by all visitors: each configuration is computed once, and only so many are kept."""

from __future__ import annotations

import streamlit as st

from attnviz.experiments.scaling import growing_width, jacobian, length, retrieval_training, saturation, variance
from attnviz.ui.shared import BoundedCache


@st.cache_resource(max_entries=64, show_spinner=False)
def variance_at_once(config: variance.Config) -> variance.Result:
    """The variance over as many pairs as can be drawn without making the visitor wait."""
    return variance.first(config)


@st.cache_resource(max_entries=32, show_spinner=False)
def growth(seed: int, distribution: str, strength: float) -> variance.Growth:
    return variance.growth(seed, distribution, strength)


@st.cache_resource(max_entries=3, show_spinner=False)
def vectors(n_keys: int, seed: int) -> growing_width.Vectors:
    """The random queries and keys: up to 70 MB each, so only a few are kept."""
    return growing_width.draw(n_keys, seed)


@st.cache_resource(max_entries=16, show_spinner=False)
def film(n_keys: int, seed: int, also: int) -> growing_width.Film:
    on_grid = also in growing_width.film_grid(n_keys)
    if on_grid and also != 1:
        return film(n_keys, seed, 1)
    return growing_width.film(n_keys, seed, also, vectors(n_keys, seed))


@st.cache_resource(max_entries=128, show_spinner=False)
def one_query(config: growing_width.Config) -> growing_width.Result:
    return growing_width.run(config, vectors(config.n_keys, config.seed))


@st.cache_resource(max_entries=128, show_spinner=False)
def curves(config: saturation.Config) -> saturation.Result:
    return saturation.run(config, vectors(config.n_keys, config.seed))


@st.cache_resource(max_entries=64, show_spinner=False)
def lengths(config: length.Config) -> length.Result:
    return length.run(config)


@st.cache_resource(max_entries=64, show_spinner=False)
def jacobians(config: growing_width.Config) -> tuple[jacobian.Result, jacobian.Result]:
    """The softmax Jacobians of the raw and of the scaled row."""
    rows = one_query(config)
    return jacobian.run(rows.raw.logits), jacobian.run(rows.scaled.logits)


@st.cache_resource(show_spinner=False)
def all_pairs() -> BoundedCache[variance.Result]:
    """Complete results of section 1 that took more than one block."""
    return BoundedCache(64, lambda _: 1)


@st.cache_resource(show_spinner=False)
def trained() -> BoundedCache[retrieval_training.Result]:
    """Training runs that were not stopped."""
    return BoundedCache(64, lambda _: 1)
