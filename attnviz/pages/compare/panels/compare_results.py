"""Results shared by all visitors: each configuration is computed once, and only so many are kept."""

from __future__ import annotations

import os
import threading

import streamlit as st

from attnviz.app.cache.bounded_cache import BoundedCache
from attnviz.app.cache.waiting_line import WaitingLine
from attnviz.base.words import _
from attnviz.pages.compare.maths import (
    heads_as_kernel,
    layer_costs,
    layer_timing,
    position_mixing,
    reach_training,
    shared_parameters,
)

TRAININGS_WAITING = 6

costs = st.cache_resource(max_entries=128, show_spinner=False)(layer_costs.run)
counted = st.cache_resource(max_entries=128, show_spinner=False)(shared_parameters.counted)
parameters = st.cache_resource(max_entries=64, show_spinner=False)(shared_parameters.run)
mixing = st.cache_resource(max_entries=32, show_spinner=False)(position_mixing.run)
kernel = st.cache_resource(max_entries=64, show_spinner=False)(heads_as_kernel.run)


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


def kind_names() -> dict[str, str]:
    """Id to name. LSTM and GRU are names in every language."""
    return {
        "attention": _("self-attention"),
        "explicit": _("attention, weights built"),
        "fused": _("attention, fused"),
        "window": _("windowed attention"),
        "linear": _("linear attention"),
        "rnn": _("plain recurrence"),
        "lstm": "LSTM",
        "gru": "GRU",
        "conv": _("convolution"),
        "dilated": _("dilated convolution"),
        "dense": _("all to all, nothing shared"),
        "mixer": _("n × n learned weights"),
        "positions": _("attention and learned places"),
    }


#: the quoted table's own words for how a layer's cost, its waiting and its path grow
ORDERS = {
    "attention": ("O(n²·d)", "O(1)", "O(1)"),
    "window": ("O(r·n·d)", "O(1)", "O(n/r)"),
    "linear": ("O(n·d²)", "O(1)", "O(1)"),
    "rnn": ("O(n·d²)", "O(n)", "O(n)"),
    "lstm": ("O(n·d²)", "O(n)", "O(n)"),
    "gru": ("O(n·d²)", "O(n)", "O(n)"),
    "conv": ("O(k·n·d²)", "O(1)", "O(n/k)"),
    "dilated": ("O(k·n·d²)", "O(1)", "O(logₖ n)"),
}
