import numpy as np
import pytest
import torch

from attnviz.analysis.head_matrix import DisplayOptions, head_matrix
from attnviz.pages.explore.maths.whole_model import build_yardstick, measure_heads, sweep_one_layer


@pytest.mark.parametrize("place", [(0, 0), (13, 8), (29, 4)])
def test_a_head_is_what_was_recorded_of_it(decoded, place):
    layer, head = place
    matrix = head_matrix(decoded.stacks[0], layer, head)
    expected = decoded.trace.layers[layer].weights(head)[0, 0].numpy()
    np.testing.assert_allclose(np.where(matrix.hidden, 0, matrix.values), expected, atol=1e-6)
    assert np.array_equal(matrix.hidden, ~np.tri(len(matrix.rows), dtype=bool))


def test_words_are_sums_over_keys_and_means_over_queries(paired):
    stack = paired.stacks[0]
    pieces = head_matrix(stack, 2, 3)
    words = head_matrix(stack, 2, 3, DisplayOptions(units="words"))
    assert "tokenizers" in words.rows
    assert len(words.rows) < len(pieces.rows)
    np.testing.assert_allclose(words.values.sum(1), 1, atol=1e-5)
    at = [span.position for span in stack.queries.spans if span.text in ("token", "izer", "izers", "s")]
    assert len(at) > 1
    expected = pieces.values[:, at].sum(1)[at].mean()
    spot = words.rows.index("tokenizers")
    assert words.values[spot, words.cols.index("tokenizers")] == pytest.approx(expected, abs=1e-6)


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


def test_the_sentence_about_a_row_has_its_own_numbers(decoded):
    matrix = head_matrix(decoded.stacks[0], 13, 8)
    row = matrix.rows.index("it")
    sentence = str(matrix.row_sentence(row))
    assert sentence.startswith("“it” gives 75% to “animal”")


def test_the_heads_that_stand_out_have_the_largest_measures(decoded):
    stack = decoded.stacks[0]
    yardstick = build_yardstick(stack)
    found = measure_heads(
        stack, [sweep_one_layer(stack, index, yardstick) for index in range(len(stack.layers))]
    ).standouts
    assert found
    for message, (layer, head) in found:
        assert message.params["value"] >= 0.5
        assert f"Layer {layer} head {head}" in str(message)


def test_one_sentence_looking_at_the_other_is_a_part_of_the_whole(paired):
    stack = paired.stacks[0]
    whole, part = head_matrix(stack, 3, 2), head_matrix(stack, 3, 2, DisplayOptions(sentences="first to second"))
    (split,) = whole.segments[0]
    np.testing.assert_allclose(part.values, whole.values[:split, split:], atol=1e-6)
    assert part.rows == whole.rows[:split]
    assert part.cols == whole.cols[split:]
    assert whole.looks_at_itself
    assert not part.looks_at_itself
