from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz.core.costs import kv_elements
from attnviz.core.heads import HeadLayout
from attnviz.core.roofline import Machine, context_no_batch_fills, decode_step

A100 = Machine(peak=312 * 10**12, bandwidth=2_039 * 10**9, memory=80 * 10**9)
LLAMA_8B = HeadLayout(4096, 32, 8)
N = 8_030_261_248


def limits(kv_heads):
    layout = replace(LLAMA_8B, n_kv_heads=kv_heads)
    return {
        "parameters": N,
        "flops_per_context": 32 * 2 * 32 * (layout.qk_width + layout.v_width),
        "bytes_per_context": 32 * 2 * kv_elements(layout),
    }


@pytest.mark.parametrize("kv_heads, context", [(32, 202), (8, 822), (1, 8100)])
def test_formulas_reproduce_the_published_limits_of_llama_on_an_a100(kv_heads, context):
    assert float(context_no_batch_fills(A100, **limits(kv_heads))) == pytest.approx(context, rel=0.005)


@given(st.integers(1, 1600), st.integers(1, 10**6))
@settings(max_examples=25, deadline=None)
def test_below_the_limit_some_batch_is_compute_bound_and_above_it_none_is(context, batch):
    per = limits(8)
    limit = context_no_batch_fills(A100, **per)

    def bound(batch):
        return decode_step(
            A100,
            parameters=N,
            weight_bytes=2 * N,
            attention_flops=per["flops_per_context"] * context,
            cache_bytes=per["bytes_per_context"] * context,
            batch=batch,
        ).bound

    if context > limit:
        assert bound(batch) == "memory"
    elif context < limit - 1:
        assert bound(10**9) == "compute"


def test_a_step_takes_as_long_as_the_slower_of_the_two():
    step = decode_step(A100, parameters=N, weight_bytes=2 * N, attention_flops=0, cache_bytes=0, batch=1)
    assert step.bound == "memory"
    assert step.seconds == 2 * N / 2_039e9


def test_there_is_no_limit_where_reading_never_takes_longer_than_computing():
    assert context_no_batch_fills(A100, parameters=N, flops_per_context=10**6, bytes_per_context=1) is None


def test_a_machine_without_memory_is_refused_in_one_sentence():
    with pytest.raises(ValueError, match="memory=0 must be at least 1"):
        Machine(1, 1, 0)
