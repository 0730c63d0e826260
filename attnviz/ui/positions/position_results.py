"""Results shared by all visitors: each configuration is computed once, and only so many are kept."""

from __future__ import annotations

import streamlit as st

from attnviz.experiments.positions import (
    longer_context,
    pair_rotation,
    position_scores,
    qk_norm_growth,
    shuffled_words,
    trained_table,
    video_attention,
    video_axes,
)
from attnviz.models.catalogue import LoadedModel


@st.cache_resource(max_entries=64, show_spinner=False)
def shuffled(config: shuffled_words.Config) -> shuffled_words.Result:
    return shuffled_words.run(config)


@st.cache_resource(max_entries=64, show_spinner=False)
def scores(config: position_scores.Config) -> position_scores.Result:
    return position_scores.run(config)


@st.cache_resource(max_entries=32, show_spinner=False)
def trained_scores(config: position_scores.Config, version: str, _loaded: LoadedModel) -> position_scores.Result:
    """The same with the learned vectors of a model, in the version that was loaded."""
    return position_scores.run(config, trained_table.table(_loaded))


@st.cache_resource(max_entries=64, show_spinner=False)
def rotation(config: pair_rotation.Config) -> pair_rotation.Result:
    return pair_rotation.run(config)


@st.cache_resource(max_entries=64, show_spinner=False)
def longer(config: longer_context.Config) -> longer_context.Result:
    return longer_context.run(config)


@st.cache_resource(max_entries=64, show_spinner=False)
def video(config: video_axes.Config) -> video_axes.Result:
    return video_axes.run(config)


@st.cache_resource(max_entries=64, show_spinner=False)
def video_attention_of(config: video_attention.Config) -> video_attention.Result:
    return video_attention.run(config)


@st.cache_resource(max_entries=32, show_spinner=False)
def norm(config: qk_norm_growth.Config) -> qk_norm_growth.Result:
    return qk_norm_growth.run(config)
