"""The numbers of one head: every stage of a weight, against what is found by hand."""

import math

import numpy as np
import pytest

from attnviz.pages.explore.maths.one_head import align_tokens, compute_stages


@pytest.mark.parametrize("cell", [(13, 8, 8, 1), (0, 0, 12, 0), (29, 5, 3, 3)])
def test_the_arithmetic_of_a_cell_is_what_a_person_would_compute(decoded, cell):
    layer, head, query, key = cell
    result = compute_stages(decoded.stacks[0], layer, head, query)
    score, scaled = float(result.scores[key]), float(result.scaled[key])
    assert score == pytest.approx(float(result.q @ result.k[key]), rel=1e-4, abs=1e-4)
    assert scaled == pytest.approx(score / math.sqrt(64), rel=1e-5, abs=1e-5)
    seen = [float(result.q @ result.k[j]) / 8 for j in range(query + 1)]
    total = sum(math.exp(s - max(seen)) for s in seen)
    assert result.weights[key] == pytest.approx(math.exp(scaled - max(seen)) / total, rel=1e-3)


def test_what_lies_ahead_weighs_nothing_heads_of_a_group_read_the_same_keys_and_a_scale_is_the_factor(decoded):
    result = compute_stages(decoded.stacks[0], 4, 4, 2)
    assert result.allowed.tolist() == [True] * 3 + [False] * (len(result.allowed) - 3)
    assert result.weights[7] == 0
    first, second, other = (compute_stages(decoded.stacks[0], 7, head, 5, scale=None) for head in (0, 2, 3))
    np.testing.assert_array_equal(first.k, second.k)
    assert not np.array_equal(first.k, other.k)
    assert first.factor == 1.0
    np.testing.assert_allclose(first.scores, first.scaled, atol=1e-5)


@pytest.mark.parametrize(
    "first, second, pairs",
    [
        ("the cat sat", "the dog sat", [(0, 0), (1, 1), (2, 2)]),
        ("the cat sat", "the old cat sat", [(0, 0), (None, 1), (1, 2), (2, 3)]),
        ("so the cat", "the cat ran off", [(0, None), (1, 0), (2, 1), (None, 2), (None, 3)]),
    ],
)
def test_words_of_two_sentences_stand_beside_each_other_where_they_are_equal_or_replaced(first, second, pairs):
    assert align_tokens(first.split(), second.split()) == pairs


def test_the_weighted_values_add_up_to_the_output_and_have_their_lengths_after_its_projection(decoded, smollm2):
    result = compute_stages(decoded.stacks[0], 10, 3, 9)
    np.testing.assert_allclose(result.weighted_values.sum(0), result.output, atol=1e-5)
    w_o = dict(smollm2.model.named_modules())["model.layers.10.self_attn.o_proj"].weight.detach().float().numpy()
    after = np.linalg.norm(result.weighted_values @ w_o[:, 3 * 64 : 4 * 64].T, axis=1)
    np.testing.assert_allclose(result.projected_norms, after, rtol=1e-3, atol=1e-5)
