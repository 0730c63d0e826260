"""Rotary positions and their scalings against transformers' own; over several axes: pages/positions/test_video.py."""

from typing import Any

import pytest
import torch
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.cohere.modeling_cohere import apply_rotary_pos_emb as interleaved_by_transformers
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb as halves_by_transformers

from attnviz.core.rope import (
    NTK,
    DynamicNTK,
    Linear,
    Llama3,
    RoPE,
    Scaling,
    YaRN,
    frequencies,
    length_factor,
)

pytestmark = pytest.mark.numbers

LENGTHS = (4096, 4097, 6000, 16384, 40_000)


def theirs(kind: str, width: int, base: float, length: int | None = None, **more: Any) -> tuple[torch.Tensor, float]:
    """Frequencies and length factor by ROPE_INIT_FUNCTIONS, of a model trained on 4,096 positions."""
    config = LlamaConfig(
        hidden_size=width * 2,
        num_attention_heads=2,
        head_dim=width,
        max_position_embeddings=4096,
        rope_parameters={"rope_theta": base, "rope_type": kind, **more},
    )
    return ROPE_INIT_FUNCTIONS[kind](config, None, seq_len=length)


@pytest.mark.parametrize("width, base", [(8, 10_000.0), (64, 100_000.0), (128, 500_000.0)])
@pytest.mark.parametrize("factor", [1.0, 2.0, 7.5, 32.0])
def test_every_scaling_is_transformers_own(width: int, base: float, factor: float) -> None:
    original = {"original_max_position_embeddings": 4096}
    own = {"beta_fast": 16.0, "beta_slow": 2.0, "attention_factor": 1.5, "truncate": False}
    llama = {"low_freq_factor": 1.0, "high_freq_factor": 4.0}
    pairs = [
        (Linear(factor), theirs("linear", width, base, factor=factor)),
        (YaRN(factor, 4096), theirs("yarn", width, base, factor=factor, **original)),
        (Llama3(factor, 4096), theirs("llama3", width, base, factor=factor, **original, **llama)),
        # a static NTK is what the dynamic one becomes at that many times the trained length, starting from 1
        (NTK(factor), theirs("dynamic", width, base, int(4096 * factor), factor=1.0)),
        (
            YaRN(factor, 4096, beta_fast=16.0, beta_slow=2.0, attention_factor=1.5, truncate=False),
            theirs("yarn", width, base, factor=factor, **original, **own),
        ),
        *((DynamicNTK(factor, 4096, n), theirs("dynamic", width, base, n, factor=factor)) for n in LENGTHS),
    ]
    for ours, (expected, length) in pairs:
        found = frequencies(width, base, ours)
        torch.testing.assert_close(found.float(), expected, atol=0, rtol=2e-5, msg=str(ours))
        assert length_factor(ours) == pytest.approx(length)


def test_a_text_of_the_trained_length_is_read_without_scaling() -> None:
    for length in (1, 100, 4096):
        assert torch.equal(frequencies(64, scaling=DynamicNTK(4.0, 4096, length)), frequencies(64))
    assert frequencies(2, scaling=NTK(8.0)).tolist() == [1.0]


@pytest.mark.parametrize(
    "scaling, kind, settings_",
    [
        (None, "default", {}),
        (YaRN(4.0, 32), "yarn", {"factor": 4.0, "original_max_position_embeddings": 32}),
    ],
)
def test_rotated_heads_are_those_of_transformers(scaling: Scaling, kind: str, settings_: dict[str, Any]) -> None:
    x, positions = torch.randn(2, 3, 20, 16), torch.arange(20)
    config = LlamaConfig(
        hidden_size=32,
        num_attention_heads=2,
        head_dim=16,
        max_position_embeddings=128,
        rope_parameters={"rope_theta": 10_000.0, "rope_type": kind, **settings_},
    )
    cos, sin = LlamaRotaryEmbedding(config)(x, positions[None])
    expected, _ = halves_by_transformers(x, x, cos, sin)
    torch.testing.assert_close(RoPE(scaling=scaling).rotate(x, positions), expected, atol=1e-5, rtol=1e-5)


def test_interleaved_heads_are_those_of_transformers_cohere() -> None:
    x, positions = torch.randn(2, 3, 20, 16), torch.arange(20)
    table = RoPE().angles(positions, 16).repeat_interleave(2, -1)[None].float()
    expected, _ = interleaved_by_transformers(x, x, table.cos(), table.sin())
    torch.testing.assert_close(RoPE(pairing="interleaved").rotate(x, positions), expected, atol=1e-5, rtol=1e-5)
