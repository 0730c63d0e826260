"""Our `Attention` against tiny attention layers of transformers with the same weights."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers import Gemma2Config, LlamaConfig
from transformers.models.gemma2.modeling_gemma2 import Gemma2Attention
from transformers.models.llama.modeling_llama import LlamaAttention, LlamaDecoderLayer

from attnviz.core import masks
from attnviz.core.attention import attend
from attnviz.core.decoder import Block
from attnviz.core.heads import HeadLayout
from attnviz.core.modules import Attention
from attnviz.core.projections import join_heads
from attnviz.core.rope import RoPE

pytestmark = pytest.mark.numbers

F64 = torch.float64
T = 9
TINY: dict[str, Any] = {
    "hidden_size": 24,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 10,
    "intermediate_size": 40,
    "num_hidden_layers": 2,
    "vocab_size": 50,
    "attn_implementation": "eager",
}
GQA = HeadLayout(24, 4, 2, d_head=10)


@pytest.fixture(autouse=True)
def _float64_all_the_way(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Run everything in float64; transformers' eager path would otherwise compute its softmax in float32."""
    torch.manual_seed(0)
    softmax = nn.functional.softmax
    monkeypatch.setattr(nn.functional, "softmax", lambda x, dim=-1, dtype=None: softmax(x, dim=dim))
    torch.set_default_dtype(F64)
    yield
    torch.set_default_dtype(torch.float32)


def spread(module: nn.Module) -> nn.Module:
    """Give the module random weights that are large enough to make its attention far from uniform."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.normal_(std=0.6)
    return module.eval()


def turns() -> tuple[Tensor, Tensor]:
    """The cosines and sines (1, T, D) that transformers passes to its layers."""
    angles = RoPE().angles(torch.arange(T), 10)
    table = torch.cat([angles, angles], -1)[None]
    return table.cos(), table.sin()


def of(theirs: nn.Module, layout: HeadLayout = GQA, **how: Any) -> Attention:
    """Our `Attention` with the q_proj, k_proj, v_proj and o_proj of transformers' layer `theirs`."""
    ours = Attention(layout, position=RoPE(), **how)
    weights = theirs.state_dict()
    ours.load_state_dict({("" if n.startswith("o_") else "qkv.") + n: w for n, w in weights.items()})
    return ours


def hiding(mask: Tensor) -> Tensor:
    """The mask as the numbers that transformers adds to its scores, (B or 1, 1, Q, K)."""
    added = torch.zeros(mask.shape).masked_fill(~mask, -torch.inf)
    return added if mask.dim() > 2 else added[None, None]


def check(ours: Tensor, theirs: Tensor) -> None:
    torch.testing.assert_close(ours, theirs, atol=1e-10, rtol=1e-10)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("use_fused", [False, True])
def test_llama_attention_equals_that_of_transformers(bias: bool, use_fused: bool) -> None:
    theirs = spread(LlamaAttention(LlamaConfig(**TINY, attention_bias=bias), 0))
    ours = of(theirs, qkv_bias=bias, out_bias=bias, use_fused=use_fused)
    x, mask = torch.randn(2, T, 24), masks.causal(T)
    expected, weights = theirs(x, turns(), hiding(mask))
    check(ours(x, mask=mask), expected)
    check(ours.stages(x, mask=masks.causal)[0].weights, weights)


@pytest.mark.parametrize("softcap", [None, 1.5])
def test_gemma_2_attention_with_its_softcap_and_scale_equals_that_of_transformers(softcap: float | None) -> None:
    config = Gemma2Config(**TINY, query_pre_attn_scalar=17, attn_logit_softcapping=softcap)
    theirs = spread(Gemma2Attention(config, 0))
    x, mask = torch.randn(2, T, 24), masks.sliding_window(T, None, 4)
    expected, weights = theirs(x, turns(), hiding(mask))
    ours = of(theirs, scale=17**-0.5)
    stages = attend(*ours.sources(x, mask=mask)[0], softcap=softcap)
    check(stages.weights, weights)
    check(ours.o_proj(join_heads(stages.output)), expected)


def test_a_pre_norm_block_is_a_llama_layer() -> None:
    theirs = LlamaDecoderLayer(LlamaConfig(**TINY | {"intermediate_size": 72, "rms_norm_eps": 1e-5}), 0).eval()
    ours = Block(HeadLayout(24, 4, 2, 10))
    ours.attention = of(theirs.self_attn)
    ours.ffn.load_state_dict(theirs.mlp.state_dict())
    ours.attention_norm.load_state_dict(theirs.input_layernorm.state_dict())
    ours.ffn_norm.load_state_dict(theirs.post_attention_layernorm.state_dict())
    x, mask = torch.randn(2, T, 24), masks.causal(T)
    expected = theirs(x, attention_mask=hiding(mask), position_embeddings=turns())
    expected = expected[0] if isinstance(expected, tuple) else expected
    torch.testing.assert_close(
        ours(x, None, lambda source: attend(*source).output), expected, atol=1e-6, rtol=1e-6
    )  # Llama's norms use float32
