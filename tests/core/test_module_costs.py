"""The formulas of attnviz.core.costs against the `Attention` module: its parameters, FLOPs and cache."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from attnviz.core import costs, masks
from attnviz.core.heads import HeadLayout
from attnviz.core.modules import Attention, KVCache

LAYOUTS = st.builds(
    lambda groups, shared, d_head, d_value: HeadLayout(24, groups * shared, groups, d_head, d_value),
    st.integers(1, 3),
    st.integers(1, 3),
    st.integers(1, 9),
    st.integers(1, 9),
)


@given(
    layout=LAYOUTS,
    qkv_bias=st.booleans(),
    out_bias=st.booleans(),
    sinks=st.booleans(),
    packed=st.booleans(),
    qk_norm=st.sampled_from([None, "head", "head-layernorm", "full", "full-layernorm"]),
)
@settings(max_examples=25, deadline=None)
def test_parameters_are_those_the_module_has(layout: HeadLayout, packed: bool, **extras: Any) -> None:
    attention = Attention(layout, packed=packed, **extras)
    assert costs.parameters(layout, **extras).total == sum(p.numel() for p in attention.parameters())


def test_a_context_of_another_width_changes_the_parameters_of_keys_and_values() -> None:
    layout = HeadLayout(24, 4, 2)
    attention = Attention(layout, k_input=10, v_input=10)
    assert costs.parameters(layout, kv_input=10).total == sum(p.numel() for p in attention.parameters())


@given(layout=LAYOUTS, tokens=st.integers(1, 8))
@settings(max_examples=10, deadline=None)
def test_flops_of_reading_and_of_one_more_token_are_those_torch_counts(layout: HeadLayout, tokens: int) -> None:
    attention, cache = Attention(layout), KVCache(layout)
    with FlopCounterMode(display=False) as prefill:
        attention(torch.randn(1, tokens, 24), mask=masks.causal, cache=cache)
    assert prefill.get_total_flops() == costs.prefill_flops(layout, tokens).total
    with FlopCounterMode(display=False) as decode:
        attention(torch.randn(1, 1, 24), mask=masks.causal, cache=cache)
    assert decode.get_total_flops() == costs.decode_flops(layout, tokens + 1).total


@pytest.mark.parametrize("window", [None, 3])
def test_the_pairs_of_a_causal_window_are_counted_alike_in_masks_and_in_costs(window: int | None) -> None:
    for new, context in ((1, 9), (4, 9), (9, 9)):
        mask = masks.causal(new, context) if window is None else masks.sliding_window(new, context, window)
        assert costs.pairs(new, context, causal=True, window=window) == mask.sum()
