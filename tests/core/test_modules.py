"""`Attention` against torch's own module, its ways of computing against each other, and decoding against one pass."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from attnviz.core import masks
from attnviz.core.cache import KVCache
from attnviz.core.heads import HeadLayout
from attnviz.core.modules import Attention, seeded_generator
from attnviz.core.positions import ALiBi, Sinusoidal, T5Bias
from attnviz.core.projections import PackedQKV, SeparateQKV
from attnviz.core.rope import Linear, RoPE, YaRN

F64 = torch.float64
POSITIONS = {
    "none": lambda: None,
    "RoPE": RoPE,
    "interleaved RoPE": lambda: RoPE(pairing="interleaved", scaling=Linear(2.0)),
    "partial YaRN": lambda: RoPE(4, scaling=YaRN(4.0, 8)),
    "ALiBi": lambda: ALiBi(4),
    "T5": lambda: T5Bias(4, bidirectional=False),
    "sinusoidal": Sinusoidal,
}


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)


def pack(packed: PackedQKV, separate: Any) -> None:
    """Copy the weights of three matrices into the one, W_Q above W_K above W_V."""
    for kind in separate.q_proj.state_dict():
        parts = [part.state_dict()[kind] for part in (separate.q_proj, separate.k_proj, separate.v_proj)]
        packed.qkv_proj.state_dict()[kind].copy_(torch.cat(parts))


def with_weights_of(theirs: nn.MultiheadAttention, **how: Any) -> Attention:
    """Our `Attention` with the weights of torch's module copied into it."""
    ours = Attention(
        HeadLayout(theirs.embed_dim, theirs.num_heads),
        qkv_bias=True,
        out_bias=True,
        **how,
    ).to(F64)
    weights = theirs.in_proj_weight.chunk(3)
    packed = isinstance(ours.qkv, PackedQKV)
    separate = SeparateQKV(ours.layout, bias=True).to(F64) if packed else ours.qkv
    with torch.no_grad():
        theirs.in_proj_bias.normal_()
        theirs.out_proj.bias.normal_()
        projections = (separate.q_proj, separate.k_proj, separate.v_proj)
        for linear, weight, bias in zip(projections, weights, theirs.in_proj_bias.chunk(3), strict=True):
            linear.weight.copy_(weight)
            linear.bias.copy_(bias)
        ours.o_proj.load_state_dict(theirs.out_proj.state_dict())
    if isinstance(ours.qkv, PackedQKV):
        pack(ours.qkv, separate)
    return ours


def their_mask(allowed: torch.Tensor) -> torch.Tensor:
    """The inverted mask: torch's MultiheadAttention hides keys where its boolean mask is True."""
    return ~allowed


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("use_fused", [False, True])
def test_self_attention_is_torchs_multihead_attention(packed: bool, use_fused: bool) -> None:
    theirs = nn.MultiheadAttention(24, 4, batch_first=True, dtype=F64)
    ours = with_weights_of(theirs, packed=packed, use_fused=use_fused)
    x, mask = torch.randn(3, 7, 24, dtype=F64), masks.causal(7)
    real = (torch.arange(7) < torch.tensor([7, 4, 5])[:, None])[:, None, None]  # (B, 1, 1, K)
    expected, weights = theirs(
        x, x, x, attn_mask=their_mask(mask), key_padding_mask=their_mask(real[:, 0, 0]), average_attn_weights=False
    )
    torch.testing.assert_close(ours(x, mask=mask & real), expected, atol=1e-10, rtol=1e-10)
    torch.testing.assert_close(ours.stages(x, mask=mask & real)[0].weights, weights, atol=1e-10, rtol=1e-10)


def test_cross_attention_is_torchs() -> None:
    theirs = nn.MultiheadAttention(24, 4, batch_first=True, dtype=F64)
    ours = with_weights_of(theirs)
    x, context = torch.randn(2, 5, 24, dtype=F64), torch.randn(2, 8, 24, dtype=F64)
    mask = torch.rand(5, 8) < 0.7
    expected, _ = theirs(x, context, context, attn_mask=their_mask(mask))
    torch.testing.assert_close(ours(x, context, mask=mask), expected, atol=1e-10, rtol=1e-10)


@given(
    position=st.sampled_from(list(POSITIONS)),
    qk_norm=st.sampled_from([None, "head", "head-layernorm", "full", "full-layernorm"]),
    groups=st.sampled_from([1, 2, 4]),
    rows=st.integers(0, 8),
    cross=st.booleans(),
    bias=st.booleans(),
    empty=st.booleans(),
)
@settings(max_examples=25, deadline=None)
def test_packed_equals_separate_and_fused_equals_explicit(
    position: str, qk_norm: Any, groups: int, rows: int, cross: bool, bias: bool, empty: bool
) -> None:
    layout = HeadLayout(16, 4, groups, d_head=6, d_value=5)
    how: dict[str, Any] = {"qk_norm": qk_norm, "position": POSITIONS[position](), "qkv_bias": bias}
    separate = Attention(layout, **how).to(F64)
    packed = Attention(layout, packed=True, **how).to(F64)
    fused = Attention(layout, use_fused=True, **how).to(F64)
    fused.load_state_dict(separate.state_dict())
    assert isinstance(packed.qkv, PackedQKV)
    pack(packed.qkv, separate.qkv)
    packed.load_state_dict({n: p for n, p in separate.state_dict().items() if not n.startswith("qkv")}, strict=False)
    x, context = torch.randn(2, rows, 16, dtype=F64), torch.randn(2, 5, 16, dtype=F64) if cross else None
    mask = torch.rand(rows, 5 if cross else rows) < 0.6
    mask[: 2 if empty else 0] = False
    expected = separate(x, context, mask=mask)
    torch.testing.assert_close(packed(x, context, mask=mask), expected, atol=1e-10, rtol=1e-10)
    torch.testing.assert_close(fused(x, context, mask=mask), expected, atol=1e-10, rtol=1e-10)


@given(
    position=st.sampled_from(list(POSITIONS)),
    groups=st.sampled_from([1, 2, 4]),
    prompt=st.integers(1, 8),
    room=st.sampled_from([{}, {"capacity": 11}]),
    use_fused=st.booleans(),
)
@settings(max_examples=20, deadline=None)
def test_decoding_with_a_cache_equals_one_full_pass(
    position: str, groups: int, prompt: int, room: dict[str, int], use_fused: bool
) -> None:
    layout = HeadLayout(16, 4, groups, d_head=6, d_value=5)
    how: dict[str, Any] = {"qk_norm": "head", "position": POSITIONS[position](), "use_fused": use_fused}
    attention = Attention(layout, **how).to(F64)
    x, cache = torch.randn(2, 11, 16, dtype=F64), KVCache(layout, 2, dtype=F64, **room)
    pieces = [x[:, :prompt], *x[:, prompt:].split(1, dim=1)]
    decoded = torch.cat([attention(piece, mask=masks.causal, cache=cache) for piece in pieces], dim=1)
    torch.testing.assert_close(decoded, attention(x, mask=masks.causal), atol=1e-10, rtol=1e-10)


@pytest.mark.parametrize("use_fused", [False, True])
def test_a_side_source_has_its_own_keys_and_values_and_the_outputs_are_summed(use_fused: bool) -> None:
    layout, how = HeadLayout(16, 4, 2, d_head=6), {"qk_norm": "full", "use_fused": use_fused}
    both = Attention(layout, side_input=16, side_scale=0.7, **how).to(F64)
    text = Attention(layout, **how).to(F64)
    image = Attention(layout, **how).to(F64)
    for norm in (both.q_norm, both.k_norm, both.side_k_norm):
        nn.init.uniform_(norm.norm.weight, 0.3, 2.0)
    weights = both.state_dict()
    text.load_state_dict({n: w for n, w in weights.items() if not n.startswith("side")})
    shared = {n: weights[n] for n in ("qkv.q_proj.weight", "q_norm.norm.weight", "o_proj.weight")}
    own = {"qkv.k_proj": "side_k_proj", "qkv.v_proj": "side_v_proj", "k_norm.norm": "side_k_norm.norm"}
    image.load_state_dict(shared | {f"{n}.weight": weights[f"{side}.weight"] for n, side in own.items()})
    x, words, patches = (torch.randn(2, n, w, dtype=F64) for n, w in ((5, 16), (7, 16), (4, 16)))
    expected = text(x, words) + 0.7 * image(x, patches)
    torch.testing.assert_close(both(x, words, side=patches), expected, atol=1e-10, rtol=1e-10)
    torch.testing.assert_close(both(x, words), text(x, words), atol=1e-10, rtol=1e-10)
    main, side = both.stages(x, words, side=patches)
    torch.testing.assert_close(main.weights, text.stages(x, words)[0].weights)
    torch.testing.assert_close(side.weights, image.stages(x, patches)[0].weights)


def test_a_side_source_is_neither_rotated_nor_are_its_queries() -> None:
    attention = Attention(HeadLayout(16, 4), side_input=16, position=RoPE())
    x, side = torch.randn(1, 3, 16), torch.randn(1, 4, 16)
    one = attention.stages(x, side=side)[1].weights
    torch.testing.assert_close(attention.stages(x, side=side, positions=torch.arange(3) + 50)[1].weights, one)


@pytest.mark.parametrize("kind", ["head", "head-layernorm", "full", "full-layernorm"])
def test_queries_and_keys_are_normed_as_torchs_own_norms_do(kind: Any) -> None:
    attention = Attention(HeadLayout(16, 4), qk_norm=kind)
    x, normed = torch.randn(1, 5, 16), []
    for projection, mine in ((attention.qkv.q_proj, attention.q_norm), (attention.qkv.k_proj, attention.k_norm)):
        nn.init.uniform_(mine.norm.weight, 0.3, 2.0)
        width = 4 if "head" in kind else 16
        theirs = nn.LayerNorm(width, 1e-6, bias=False) if "layer" in kind else nn.RMSNorm(width, eps=1e-6)
        theirs.load_state_dict(mine.norm.state_dict(), strict=False)
        given = projection(x).unflatten(-1, (-1, width))
        normed.append(theirs(given).flatten(-2).unflatten(-1, (4, 4)).transpose(1, 2))
    expected = (normed[0] @ normed[1].mT / 2).softmax(-1)
    torch.testing.assert_close(attention.stages(x)[0].weights, expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("use_fused", [False, True])
def test_gradients_pass_gradcheck(use_fused: bool) -> None:
    attention = Attention(
        HeadLayout(4, 2, 1), qk_norm="head", position=RoPE(), side_input=3, out_bias=True, use_fused=use_fused
    ).to(F64)
    inputs = torch.randn(1, 3, 4, dtype=F64, requires_grad=True), torch.randn(1, 2, 3, dtype=F64, requires_grad=True)
    mask = masks.causal(3, 3) & (torch.arange(3) >= 1)  # the first row sees nothing
    assert torch.autograd.gradcheck(lambda x, side: attention(x, mask=mask, side=side), inputs)
    attention(inputs[0], mask=mask, side=inputs[1]).sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in attention.parameters())


def drawn(seed: int) -> torch.Tensor:
    with seeded_generator(seed):
        return torch.stack([torch.nn.Linear(8, 8).weight.detach() for _ in range(20)])


def test_threads_that_seed_at_once_draw_as_alone() -> None:
    alone = {seed: drawn(seed) for seed in range(4)}
    with ThreadPoolExecutor(8) as pool:
        for seed, together in zip([0, 1, 2, 3] * 50, pool.map(drawn, [0, 1, 2, 3] * 50), strict=True):
            torch.testing.assert_close(together, alone[seed], rtol=0, atol=0)


def test_the_generator_is_as_it_was() -> None:
    before = torch.random.get_rng_state()
    drawn(7)
    assert torch.equal(torch.random.get_rng_state(), before)
