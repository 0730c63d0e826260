"""Scores from positions alone, against complex numbers, BLOOM's and T5's own code, and by hand."""

import math

import numpy as np
import pytest
import torch
from transformers.models.bloom.modeling_bloom import build_alibi_tensor

from attnviz.analysis.word_vectors import random_normal
from attnviz.pages.positions.maths.position_scores import Config, run


@pytest.mark.parametrize("content", ["same", "random"])
@pytest.mark.parametrize("pairing", ["half", "interleaved"])
def test_rope_scores_are_products_of_complex_numbers(content, pairing):
    n, d, base = 20, 12, 50.0
    q, k = (np.ones(d), np.ones(d)) if content == "same" else random_normal(4, 2, d).double().numpy()
    pairs = [x.reshape(-1, 2) if pairing == "interleaved" else x.reshape(2, -1).T for x in (q, k)]
    q, k = (p[:, 0] + 1j * p[:, 1] for p in pairs)
    theta = base ** (-np.arange(0, d, 2) / d)
    at = np.arange(n)
    turned = np.exp(1j * np.subtract.outer(at, at)[..., None] * theta)  # e^{i (m - n) theta}
    expected = (q * k.conj() * turned).real.sum(-1) / math.sqrt(d)
    result = run(Config(f"rope-{pairing}", d, base, n, content, seed=4))
    assert result.scores == pytest.approx(expected, abs=1e-12)
    assert result.spread < 1e-12
    assert result.shift_change < 1e-11


def test_sinusoids_compare_by_distance_until_they_are_projected():
    plain = run(Config("sinusoidal", 32, n=16))
    by_hand = sum(math.cos(3 * 10_000.0 ** (-2 * i / 32)) for i in range(16)) / math.sqrt(32)
    assert plain.at(3) == pytest.approx(by_hand)
    assert plain.shift_change < 1e-12
    projected = run(Config("sinusoidal", 32, n=16, content="random"))
    assert projected.shift_change > 0.1
    assert projected.spread > 0.1


def test_alibi_is_bloom_s_up_to_what_softmax_ignores():
    n, heads = 9, 6
    theirs = build_alibi_tensor(torch.ones(1, n), heads, torch.float64).reshape(heads, n).numpy()
    for head in range(heads):
        result = run(Config("alibi", n=n, heads=heads, head=head))
        # BLOOM adds slope * key position, which differs from -slope * distance by one number for each query
        for query in range(n):
            row = result.scores[query, : query + 1] - theirs[head, : query + 1]
            assert row == pytest.approx(row[0], abs=1e-6)
        assert result.heads[head] == pytest.approx(-result.slopes[head] * np.abs(result.distance), abs=1e-12)
