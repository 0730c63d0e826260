"""Results shared by all visitors: each configuration is computed once, and only so many are kept."""

from __future__ import annotations

import os
import threading

import streamlit as st

from attnviz.experiments.compare import (
    counted_costs,
    heads_as_kernel,
    layer_costs,
    layer_timing,
    position_mixing,
    reach_training,
    shared_parameters,
)
from attnviz.ui.shared import BoundedCache, WaitingLine

TRAININGS_WAITING = 6


@st.cache_resource(max_entries=128, show_spinner=False)
def costs(config: layer_costs.Config) -> layer_costs.Result:
    return layer_costs.run(config)


@st.cache_resource(max_entries=128, show_spinner=False)
def counted(config: layer_costs.Config) -> tuple[counted_costs.CountedLayer, ...]:
    return counted_costs.run(config)


@st.cache_resource(max_entries=64, show_spinner=False)
def parameters(config: layer_costs.Config) -> shared_parameters.Result:
    return shared_parameters.run(config)


@st.cache_resource(max_entries=32, show_spinner=False)
def mixing(config: position_mixing.Config) -> position_mixing.Result:
    return position_mixing.run(config)


@st.cache_resource(max_entries=64, show_spinner=False)
def kernel(config: heads_as_kernel.Config) -> heads_as_kernel.Result:
    return heads_as_kernel.run(config)


@st.cache_resource(max_entries=32, show_spinner=False)
def untrained(config: reach_training.Config) -> reach_training.Result:
    """What each layer reaches before the first step."""
    return next(reach_training.train(config))


@st.cache_resource(show_spinner=False)
def trained_reach() -> BoundedCache[reach_training.Result]:
    """Training runs that were not stopped, the prepared one among them."""
    kept: BoundedCache[reach_training.Result] = BoundedCache(32, lambda _: 1)
    kept.get(reach_training.Config(), reach_training.prepared)
    return kept


@st.cache_resource(show_spinner=False)
def training_line() -> WaitingLine:
    """Where visitors who train wait for each other, so that half of the processors are left to those who look."""
    return WaitingLine(max(1, (os.cpu_count() or 1) // 2), TRAININGS_WAITING)


@st.cache_resource(show_spinner=False)
def measured_here() -> BoundedCache[layer_timing.Result]:
    """Measurements of this machine that were not stopped."""
    return BoundedCache(16, lambda _: 1)


@st.cache_resource(show_spinner=False)
def one_at_a_time() -> threading.Lock:
    """Held while this machine is measured: two measurements at once would measure each other."""
    return threading.Lock()
