from dataclasses import replace
from fractions import Fraction

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from attnviz.core import costs
from attnviz.core.attention import attend
from attnviz.core.heads import HeadLayout
from attnviz.core.modules import Attention

LLAMA_8B = HeadLayout(4096, 32, 8)


@st.composite
def layouts(draw):
    kv_heads = draw(st.integers(1, 4))
    heads = kv_heads * draw(st.integers(1, 4))
    d_model, d_head, d_value = (draw(st.integers(1, 12)) for _ in range(3))
    return HeadLayout(d_model, heads, kv_heads, d_head, d_value)


def count(module):
    return sum(p.numel() for p in module.parameters())


@given(
    layout=layouts(),
    qkv_bias=st.booleans(),
    out_bias=st.booleans(),
    packed=st.booleans(),
    qk_norm=st.sampled_from([None, "head", "head-layernorm", "full", "full-layernorm"]),
)
@settings(max_examples=25, deadline=None)
def test_parameters_are_those_the_module_has(layout, packed, **extras):
    attention = Attention(layout, packed=packed, **extras)
    assert costs.count_parameters(layout, **extras).total == count(attention)


def test_parameters_equal_those_of_torchs_own_attention():
    layout = HeadLayout(24, 4)
    assert costs.count_parameters(layout, qkv_bias=True, out_bias=True).total == count(nn.MultiheadAttention(24, 4))
    other = nn.MultiheadAttention(24, 4, bias=False, kdim=10, vdim=10)
    assert costs.count_parameters(layout, kv_input=10).total == count(other)


@given(st.integers(1, 9), st.integers(0, 9), st.one_of(st.none(), st.integers(1, 12)))
@settings(max_examples=50, deadline=None)
def test_causal_pairs_equal_counting_them(new, before, window):
    context = new + before
    positions = range(before, context)
    by_hand = sum(min(p + 1, window or context) for p in positions)
    assert costs.count_pairs(new, context, causal=True, window=window) == by_hand
    assert costs.count_pairs(new, context) == new * context


@given(layouts(), st.integers(1, 9), st.integers(1, 3))
@settings(max_examples=25, deadline=None)
def test_activations_equal_real_tensors(layout, tokens, batch):
    q = torch.zeros(batch, layout.n_heads, tokens, layout.qk_width)
    k = torch.zeros(batch, layout.kv_heads, tokens, layout.qk_width)
    v = torch.zeros(batch, layout.kv_heads, tokens, layout.v_width)
    stages = attend(q, k, v)
    projected = torch.zeros(batch, tokens, layout.d_model)
    tensors = (q, k, v, stages.scaled, stages.weights, stages.output, projected)
    assert costs.count_activations(layout, tokens, batch) == costs.Activations(*(t.numel() for t in tensors))
    assert costs.count_activations(layout, tokens, batch, "fused").scores == 0


@pytest.mark.parametrize("kv_heads", [1, 8, 32])
def test_decode_intensity_is_query_heads_per_kv_head_at_16_bits(kv_heads):
    layout = replace(LLAMA_8B, n_kv_heads=kv_heads)
    work = costs.count_flops(layout, 1, 777)
    assert Fraction(work.scores + work.values, costs.kv_bytes(layout, 777)) == Fraction(32, kv_heads)


def test_the_kind_and_the_shared_head_follow_from_the_number_of_key_value_heads():
    assert [HeadLayout(64, 8, n).kind for n in (8, 4, 1)] == ["MHA", "GQA", "MQA"]
    assert HeadLayout(64, 1).kind == "MHA"
    assert [HeadLayout(64, 6, 2, d_head=8).kv_head_of(head) for head in range(6)] == [0, 0, 0, 1, 1, 1]


def test_formulas_reproduce_published_tables_of_kib_per_token():
    def kib(layers, layout):
        return layers * costs.kv_bytes(layout, 1) / 1024

    assert kib(40, HeadLayout(5120, 40)) == 800  # OPT-13B, vLLM paper
    assert kib(32, HeadLayout(4096, 32)) == 512  # Llama-2-7B
    assert kib(32, LLAMA_8B) * 2048 / 1024 == 256  # Llama-3-8B, 2,048 tokens, MiB
