"""Scaled frequencies against transformers' own functions, and against what each way of scaling promises."""

from typing import Any

import pytest
import torch
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from attnviz.core.rope import NTK, DynamicNTK, Linear, Llama3, YaRN, frequencies, length_factor

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
    llama = {"low_freq_factor": 1.0, "high_freq_factor": 4.0}
    pairs = [
        (Linear(factor), theirs("linear", width, base, factor=factor)),
        (YaRN(factor, 4096), theirs("yarn", width, base, factor=factor, **original)),
        (Llama3(factor, 4096), theirs("llama3", width, base, factor=factor, **original, **llama)),
        # a static NTK is what the dynamic one becomes at that many times the trained length, starting from 1
        (NTK(factor), theirs("dynamic", width, base, int(4096 * factor), factor=1.0)),
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
