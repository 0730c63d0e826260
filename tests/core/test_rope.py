"""Rotary positions against transformers' implementations and against the properties of a rotation."""

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import LlamaConfig
from transformers.models.cohere.modeling_cohere import apply_rotary_pos_emb as interleaved_by_transformers
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb as halves_by_transformers

from attnviz.core.rope import (
    AxialRoPE,
    RoPE,
    Scaling,
    YaRN,
    grid_positions,
)

pytestmark = pytest.mark.numbers

#: how q and k are lengthened as well; what scalings make of the frequencies is in test_rope_scaling.py
SCALINGS: list[tuple[Scaling, dict[str, Any]]] = [
    (None, {"rope_type": "default"}),
    (YaRN(4.0, 32), {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32}),
    (
        YaRN(8.0, 64, beta_fast=16.0, beta_slow=2.0, attention_factor=1.5, truncate=False),
        {
            "rope_type": "yarn",
            "factor": 8.0,
            "original_max_position_embeddings": 64,
            "beta_fast": 16.0,
            "beta_slow": 2.0,
            "attention_factor": 1.5,
            "truncate": False,
        },
    ),
]


def by_transformers(settings_: dict[str, Any], d_head: int, theta: float) -> LlamaRotaryEmbedding:
    original = settings_.get("original_max_position_embeddings", 64)
    config = LlamaConfig(
        hidden_size=d_head * 2,
        num_attention_heads=2,
        head_dim=d_head,
        max_position_embeddings=int(original * settings_.get("factor", 1)),
        rope_parameters={"rope_theta": theta, **settings_},
    )
    return LlamaRotaryEmbedding(config)


@pytest.mark.parametrize("scaling, settings_", SCALINGS)
def test_rotated_heads_are_those_of_transformers(scaling: Scaling, settings_: dict[str, Any]) -> None:
    x, positions = torch.randn(2, 3, 20, 16), torch.arange(20)
    cos, sin = by_transformers(settings_, 16, 10_000.0)(x, positions[None])
    expected, _ = halves_by_transformers(x, x, cos, sin)
    torch.testing.assert_close(RoPE(scaling=scaling).rotate(x, positions), expected, atol=1e-5, rtol=1e-5)


def test_interleaved_heads_are_those_of_transformers_cohere() -> None:
    x, positions = torch.randn(2, 3, 20, 16), torch.arange(20)
    table = RoPE().angles(positions, 16).repeat_interleave(2, -1)[None].float()
    expected, _ = interleaved_by_transformers(x, x, table.cos(), table.sin())
    torch.testing.assert_close(RoPE(pairing="interleaved").rotate(x, positions), expected, atol=1e-5, rtol=1e-5)


@given(shift=st.integers(-1000, 1000), pairing=st.sampled_from(["half", "interleaved"]), seed=st.integers(0, 999))
@settings(max_examples=20, deadline=None)
def test_shifting_all_positions_leaves_rope_scores_unchanged(shift: int, pairing: str, seed: int) -> None:
    torch.manual_seed(seed)
    q, k = (torch.randn(2, 6, 8, dtype=torch.float64) for _ in range(2))
    rope, positions = RoPE(pairing=pairing), torch.arange(6)  # type: ignore[arg-type]
    scores = rope.rotate(q, positions) @ rope.rotate(k, positions).mT
    shifted = rope.rotate(q, positions + shift) @ rope.rotate(k, positions + shift).mT
    torch.testing.assert_close(shifted, scores, atol=1e-10, rtol=1e-10)


@pytest.mark.parametrize("pairing", ["half", "interleaved"])
def test_axial_scores_depend_on_the_distance_along_each_axis_only(pairing: str) -> None:
    rope = AxialRoPE((4, 6, 6), pairing=pairing)  # type: ignore[arg-type]
    q, k = (torch.randn(1, 24, 16, dtype=torch.float64) for _ in range(2))
    grid = grid_positions(2, 3, 4)
    scores = rope.rotate(q, grid) @ rope.rotate(k, grid).mT
    moved = grid + torch.tensor([5, -2, 9])
    torch.testing.assert_close(rope.rotate(q, moved) @ rope.rotate(k, moved).mT, scores, atol=1e-10, rtol=1e-10)


def test_interleaved_axial_rope_is_plain_rope_on_each_part_of_the_width() -> None:
    x, grid = torch.randn(2, 24, 16), grid_positions(2, 3, 4)
    plain = RoPE(pairing="interleaved")
    parts = [plain.rotate(part, grid[:, axis]) for axis, part in enumerate(x.split([4, 6, 6], -1))]
    torch.testing.assert_close(AxialRoPE((4, 6, 6)).rotate(x, grid), torch.cat(parts, -1))
