from dataclasses import replace

import numpy as np
import pytest
import torch

from attnviz.analysis.head_matrix import DisplayOptions, head_matrix


@pytest.mark.parametrize("place", [(0, 0), (13, 8), (29, 4)])
def test_a_head_is_what_was_recorded_of_it(decoded, place):
    layer, head = place
    matrix = head_matrix(decoded.stacks[0], layer, head)
    expected = decoded.trace.layers[layer].weights(head)[0, 0].numpy()
    np.testing.assert_allclose(np.where(matrix.hidden, 0, matrix.values), expected, atol=1e-6)
    assert np.array_equal(matrix.hidden, ~np.tri(len(matrix.rows), dtype=bool))


def test_value_weighting_is_weight_times_what_the_value_adds(decoded, smollm2):
    stack = decoded.stacks[0]
    plain = head_matrix(stack, 5, 2)
    valued = head_matrix(stack, 5, 2, DisplayOptions(values="values"))
    layer = stack.layers[5]
    w_o = dict(smollm2.model.named_modules())["model.layers.5.self_attn.o_proj"].weight
    added = layer.v[0, 0].float() @ w_o[:, 2 * 64 : 3 * 64].T.float()
    lengths = torch.linalg.vector_norm(added, dim=-1).detach().numpy()
    np.testing.assert_allclose(valued.values[-1], plain.values[-1] * lengths, rtol=1e-3, atol=1e-5)
    before = torch.linalg.vector_norm(layer.v[0, 0].float(), dim=-1).numpy()
    np.testing.assert_allclose(valued.before_w_o[-1], plain.values[-1] * before, rtol=1e-4, atol=1e-5)
    last, most = len(plain.rows) - 1, int(valued.values[-1].argmax())
    assert f"{plain.values[-1, most] * lengths[most]:.2f} long after W_O" in str(valued.row_sentence(last))
    assert f"Before W_O, weight times value of “{valued.cols[most]}” is " in str(valued.sentence_before_w_o(last))
    assert f"is {plain.values[-1, most] * before[most]:.2f} long" in str(valued.sentence_before_w_o(last))
    assert plain.sentence_before_w_o(last) is None
    assert f"gives {plain.values[-1].max():.0%} to “" in str(plain.row_sentence(last))


def test_one_sentence_looking_at_the_other_is_a_part_of_the_whole(paired):
    stack = paired.stacks[0]
    whole, part = head_matrix(stack, 3, 2), head_matrix(stack, 3, 2, DisplayOptions(sentences="first to second"))
    (split,) = whole.segments[0]
    np.testing.assert_allclose(part.values, whole.values[:split, split:], atol=1e-6)
    assert part.rows == whole.rows[:split]
    assert part.cols == whole.cols[split:]
    assert whole.looks_at_itself
    assert not part.looks_at_itself


def test_a_difference_is_hidden_only_where_both_are(decoded):
    causal = head_matrix(decoded.stacks[0], 5, 2)
    everything = replace(causal, hidden=np.zeros_like(causal.hidden))
    difference = causal.minus(everything)
    assert not difference.hidden.any()
    np.testing.assert_allclose(difference.values, np.where(causal.hidden, -everything.values, 0))
    assert (causal.minus(causal).hidden == causal.hidden).all()
