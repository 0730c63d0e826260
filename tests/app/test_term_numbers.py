"""The numbers in the glossary, each from another hand."""

import math

import numpy as np
import pytest

from attnviz.app import term_popover


def test_softmax_entropy_and_scale_are_those_of_the_formulas():
    found = term_popover.numbers()
    e = np.exp([0.0, 1.0, 2.0])
    assert (found["low"], found["middle"], found["high"]) == pytest.approx(tuple(e / e.sum()))
    cold = np.exp([0.0, 0.5, 1.0])
    assert found["high_hot"] == pytest.approx(cold[-1] / cold.sum())
    assert found["even"] == pytest.approx(math.log(8))
    assert found["effective"] == pytest.approx(8)
    assert found["bits"] == pytest.approx(math.log2(math.e))
    assert found["scale"] == 1 / math.sqrt(64)


def test_pairs_under_a_mask_are_those_that_counting_gives():
    found = term_popover.numbers()
    pairs = [(i, j) for i in range(10) for j in range(10)]
    assert found["pairs"] == len(pairs)
    assert found["causal_pairs"] == sum(j <= i for i, j in pairs)
    assert found["window_pairs"] == sum(i - 4 < j <= i for i, j in pairs)


def test_llamas_cache_is_layers_times_heads_times_width_times_two_times_two_bytes():
    found = term_popover.numbers()
    layers, width, tokens = 32, 128, 8192  # published in Llama-3.1-8B's config.json
    assert (found["llama_layers"], found["llama_heads"], found["llama_kv_heads"]) == (layers, 32, 8)
    assert found["token_kib"] * 1024 == layers * 8 * width * 2 * 2
    for name, heads, unit in (("mha_gib", 32, 2**30), ("gqa_gib", 8, 2**30), ("mqa_mib", 1, 2**20)):
        assert found[name] * unit == layers * heads * width * 2 * 2 * tokens
    assert (found["mha_gib"], found["gqa_gib"], found["mqa_mib"]) == (4, 1, 128)


def test_smollm2_and_deepseek_have_the_heads_that_are_said():
    found = term_popover.numbers()
    assert (found["small_layers"], found["small_heads"], found["small_kv_heads"]) == (30, 9, 3)
    assert found["small_all"] == 270
    assert found["latent"] == 512 + 64, "kv_lora_rank and qk_rope_head_dim of its config.json"
    assert found["latent_heads"] == 128
