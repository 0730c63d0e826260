"""Every trap: the shown code is what runs, the right side is right, and the wrong side is wrong."""

import math
import re
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from attnviz.base.word_boundaries import split
from attnviz.core import masks
from attnviz.core.attention import attend
from attnviz.core.projections import split_heads
from attnviz.pages.masks.maths import traps
from attnviz.pages.masks.maths.traps import fills, heads, layers, padding, places
from attnviz.runs.traps import IMPORTS
from attnviz.runs.word_vectors import sentence

README = Path(__file__).parents[4] / "README.md"
SENTENCE = sentence(split("the cat sat on the mat because it was tired"), seed=0)
LEAST_IS_NOT_FIRST = 4  #: with these vectors another word than the first keeps least of its attention

#: What the right code must equal, computed without the trap's code: attend() on the same scores, under this mask.
RIGHT = {
    **dict.fromkeys(("softmax_first", "ignored_mask", "meaning"), masks.causal(len(SENTENCE))),
    **dict.fromkeys(("floor_division", "linear_weight", "dropout_in_eval", "unused_projections")),
    "fill": fills.mask_with_an_empty_row(len(SENTENCE)),
}


def reference(mask=None):
    q, k, v = (t.unsqueeze(0) for t in (SENTENCE.q, SENTENCE.k, SENTENCE.v))
    return attend(q, k, v, mask=mask).weights[0].numpy()


@pytest.mark.parametrize("trap", RIGHT)
def test_the_right_code_is_attention_as_the_core_computes_it(trap):
    np.testing.assert_allclose(traps.TRAPS[trap].run(SENTENCE).right.scores, reference(RIGHT[trap]), atol=1e-6)


def test_the_readme_counts_the_traps_and_those_that_raise_nothing():
    names = {15: "fifteen", 16: "sixteen", 17: "seventeen", 18: "eighteen", 19: "nineteen", 20: "twenty"}
    silent = sum(not traps.TRAPS[trap].run(SENTENCE).error for trap in traps.TRAPS)
    told = f"{names[len(traps.TRAPS)]} mistakes, {names[silent]} of which no shape test finds"
    assert told in README.read_text("utf-8")


@pytest.mark.parametrize("trap", traps.TRAPS)
def test_the_wrong_code_differs_in_this_sentence(trap):
    outcome = traps.TRAPS[trap].run(SENTENCE)
    rows, cols = outcome.right.tokens_q, outcome.right.tokens_k or outcome.right.tokens_q
    assert outcome.right.scores.shape == (len(rows), len(cols))
    if outcome.wrong is None:
        assert outcome.error
        assert outcome.largest is None
    else:
        assert outcome.largest > 0.05
        assert outcome.wrong.scores.shape == outcome.right.scores.shape
        assert (outcome.wrong.tokens_q, outcome.wrong.tokens_k) == (outcome.right.tokens_q, outcome.right.tokens_k)
    assert all(str(fact) for fact in outcome.facts)


@pytest.mark.parametrize("trap", traps.TRAPS)
@pytest.mark.parametrize("words", [("one",), ("so", "so"), tuple(map(str, range(100)))], ids=["1", "2", "100"])
def test_sentences_of_any_length_are_taken(trap, words):
    outcome = traps.TRAPS[trap].run(sentence(words, 1))
    assert (outcome.largest is None) == (outcome.wrong is None) == (trap == "query_length" and len(words) > 1)
    assert outcome.largest is None or not math.isnan(outcome.largest)
    assert np.isfinite(outcome.right.scores).all()


def pasted(code):
    """The namespace of a notebook into which imports and code were pasted."""
    names = {}
    exec("from __future__ import annotations\n" + IMPORTS + code, names)
    return names


@pytest.mark.parametrize("trap", traps.TRAPS.values(), ids=traps.TRAPS)
def test_code_as_shown_runs_on_its_own_and_gives_what_the_page_computes(trap, monkeypatch):
    expected = trap.run(SENTENCE)
    module = sys.modules[trap.wrong[0].__module__]
    for side, text in ((trap.wrong, trap.wrong_code), (trap.right, trap.right_code)):
        names = pasted(text)
        for thing in side:
            monkeypatch.setattr(module, thing.__name__, names[thing.__name__])
    again = trap.run(SENTENCE)
    if expected.wrong is not None:
        np.testing.assert_array_equal(again.wrong.scores, expected.wrong.scores)
    np.testing.assert_array_equal(again.right.scores, expected.right.scores)
    assert again.error == expected.error
    assert again.facts == expected.facts


def test_an_empty_row_is_uniform_with_a_billion_nan_with_infinity_and_zero_with_ours():
    table = {(row[0], str(row[1])): str(row[2]) for row in traps.TRAPS["fill"].run(SENTENCE).table[1:]}
    assert table["float32", "-1e9"] == "uniform: 0.100 each"
    assert table["bfloat16", "finfo.min"] == "uniform: 0.100 each"
    assert re.match("error: .*overflow", table["float16", "-1e9"])
    for dtype in ("float32", "bfloat16", "float16"):
        assert table[dtype, "-inf"] == "NaN"
        assert table[dtype, "finfo.min, twice"] == "NaN"
        assert table[dtype, "-inf, then 0"] == "zeros"


def test_multihead_attention_hides_where_sdpa_attends():
    mask = masks.causal(len(SENTENCE))
    with torch.no_grad():
        mha = layers.module(SENTENCE)
        hidden, _ = layers.wrong_meaning(mha, SENTENCE.x, mask, mask[-1])
        sdpa = layers.same_with_sdpa(mha, SENTENCE.x, mask)
    assert hidden[-1].isnan().all()
    assert (hidden[:-1][mask[:-1]] == 0).all()
    np.testing.assert_allclose(sdpa.numpy(), reference(mask), atol=1e-6)


def test_a_finite_fill_added_before_scaling_leaks_and_infinity_does_not():
    rows = {row[0]: (float(row[1]), float(row[2])) for row in traps.TRAPS["before_scaling"].run(SENTENCE).table[1:]}
    assert rows["-inf"] == (0, 0)
    assert rows["-10"][0] > 100 * rows["-10"][1]


@pytest.mark.parametrize("trap", ["top_left", "cropped_mask"])
def test_the_last_words_see_all_before_them_and_a_mask_of_the_first_ones_hides_most_of_these(trap):
    outcome = traps.TRAPS[trap].run(SENTENCE)
    np.testing.assert_allclose(outcome.right.scores, reference(masks.causal(10))[-3:], atol=1e-6)
    assert (outcome.wrong.scores > 0).tolist() == np.tri(3, 10, dtype=bool).tolist()
    told = outcome.facts[0].params
    assert told["seen"] == 3
    assert trap == "top_left" or (told["bad"], told["good"]) == (1 + 2 + 3, 8 + 9 + 10)


def test_shifted_positions_make_padding_invisible_and_rope_never_needed_them():
    alone = places.absolute_weights(SENTENCE, SENTENCE.x, torch.arange(10), torch.ones(10, dtype=torch.bool))
    np.testing.assert_allclose(traps.TRAPS["left_padding"].run(SENTENCE).right.scores, alone.numpy(), atol=1e-6)
    x = torch.randn(6, 16)
    near = places.rotated(x, torch.arange(6)) @ places.rotated(x, torch.arange(6)).T
    far = places.rotated(x, torch.arange(6) + 9) @ places.rotated(x, torch.arange(6) + 9).T
    torch.testing.assert_close(near, far, atol=1e-4, rtol=1e-4)


def test_a_double_slash_leaves_whole_numbers_and_no_gradient():
    assert "floor_divide" in layers.error_in_training(SENTENCE.q, SENTENCE.k)


def test_unused_projections_pass_the_shape_test_and_fail_the_gradient_test():
    for kind, dead in ((layers.WrongUnusedProjections, 3), (layers.RightUnusedProjections, 0)):
        module = layers.with_weights_of(SENTENCE, kind)
        output, weights = module(SENTENCE.x)
        assert (output.shape, weights.shape) == (SENTENCE.x.shape, (10, 10))
        assert layers.without_gradient(module, SENTENCE.x) == dead


def test_slices_of_the_first_head_are_right_and_of_the_others_overlap():
    differences = [float(row[3]) for row in traps.TRAPS["head_slices"].run(SENTENCE).table[1:]]
    assert differences[0] == 0
    assert min(differences[1:]) > 0.01


def test_dropout_does_not_disturb_the_random_numbers_of_others():
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    traps.TRAPS["dropout_in_eval"].run(SENTENCE)
    assert torch.equal(torch.rand(1), expected)


def softmax(scores):
    exps = np.exp(scores - scores.max(-1, keepdims=True))
    return exps / exps.sum(-1, keepdims=True)


def head_by_head(q, k, n_heads, kv_heads):
    """Weights (H, Q, K) in NumPy: query head h asks the K/V head h // (H / G)."""
    width = q.shape[-1] // n_heads
    return np.stack(
        [
            softmax(
                q[:, head * width : (head + 1) * width]
                @ k[:, (kv := head * kv_heads // n_heads) * width : (kv + 1) * width].T
                / width**0.5
            )
            for head in range(n_heads)
        ]
    )


def test_sinusoids_as_integers_are_zero_and_the_right_ones_are_sines_and_cosines():
    cut = places.wrong_integer_positions(torch.arange(10), 16)
    assert cut.dtype == torch.int64
    assert cut.nonzero().tolist() == [[0, column] for column in range(8, 16)]  # cos(0) = 1
    expected = [
        [f(place / 10_000 ** (2 * pair / 16)) for f in (math.sin, math.cos) for pair in range(8)] for place in range(10)
    ]
    kept = places.right_integer_positions(torch.arange(10), 16).numpy()
    np.testing.assert_allclose(kept, expected, atol=1e-5)
    x = SENTENCE.x.numpy() + np.array(expected)
    q, k = x @ SENTENCE.w_q.numpy(), x @ SENTENCE.w_k.numpy()
    outcome = traps.TRAPS["integer_positions"].run(SENTENCE)
    np.testing.assert_allclose(outcome.right.scores, softmax(q @ k.T / 4), atol=1e-4)
    assert (outcome.facts[0].params["zeros"], outcome.facts[0].params["all"]) == (152, 160)
    assert outcome.facts[1].params["bad"] < 1e-6 < 0.1 < outcome.facts[1].params["good"]


def test_thirty_two_tokens_get_256_keys_and_an_output_of_the_right_shape():
    words = sentence(tuple(map(str, range(32))))
    w_k, w_v = words.w_k[:, :2], words.w_v[:, :2]
    bad_output, bad = heads.wrong_query_heads_of_keys(words.x, words.w_q, words.w_k, words.w_v, 8)
    good_output, good = heads.right_query_heads_of_keys(words.x, words.w_q, w_k, w_v, 8)
    assert bad_output.shape == good_output.shape == (32, 16)
    assert (bad.shape[-1], good.shape[-1]) == (256, 32)
    expected = head_by_head(words.q.numpy(), (words.x @ w_k).numpy(), 8, 1)
    np.testing.assert_allclose(good.numpy(), expected, atol=1e-5)
    each = [weights @ (words.x @ w_v).numpy() for weights in expected]
    np.testing.assert_allclose(good_output.numpy(), np.concatenate(each, -1), atol=1e-4)


def test_keys_for_each_query_head_are_told_by_their_number_and_refused_by_a_written_length():
    outcome = traps.TRAPS["query_heads_of_keys"].run(SENTENCE)
    assert outcome.facts[0].params["keys"] == 40
    np.testing.assert_allclose(outcome.wrong.scores.sum(-1), 1, atol=1e-5)
    assert "invalid for input of size 160" in str(outcome.facts[2])


def test_expand_fails_for_groups_and_repeat_gives_heads_the_keys_of_others():
    q, k = split_heads(SENTENCE.q, 4), split_heads(SENTENCE.k[:, :8], 2)
    expected = head_by_head(SENTENCE.q.numpy(), SENTENCE.k[:, :8].numpy(), 4, 2)
    np.testing.assert_allclose(heads.right_expanded_heads(q, k).numpy(), expected, atol=1e-5)
    with pytest.raises(RuntimeError) as refused:
        heads.wrong_expanded_heads(q, k)
    outcome = traps.TRAPS["expanded_heads"].run(SENTENCE)
    assert outcome.error == str(refused.value)
    assert "must match the existing size (2)" in outcome.error
    swapped = np.abs(heads.quick_cure(q, k).numpy() - expected).max((1, 2)) > 1e-4
    assert swapped.tolist() == [False, True, True, False]
    assert outcome.facts[1].params["swapped"] == 2
    assert outcome.facts[2].params["head"] in (1, 2)


def test_a_forgotten_number_of_groups_is_mha_and_the_right_class_shares_keys():
    outcome = traps.TRAPS["group_num"].run(SENTENCE)
    q, k = SENTENCE.q.numpy(), SENTENCE.k.numpy()
    np.testing.assert_allclose(outcome.wrong.scores, head_by_head(q, k, 4, 4)[-1], atol=1e-5)
    np.testing.assert_allclose(outcome.right.scores, head_by_head(q, k[:, :8], 4, 2)[-1], atol=1e-5)
    one_head = np.abs(head_by_head(q, k[:, :4], 4, 1) - head_by_head(q, k[:, :8], 4, 2)).max()
    assert outcome.facts[1].params["gap"] == pytest.approx(one_head, abs=1e-5)
    assert outcome.facts[1].params["wrong"] == 2 * outcome.facts[1].params["right"]
    assert (outcome.error, outcome.facts[0].params["heads"]) == ("", 4)


def test_keys_cut_with_the_queries_length_raise_as_soon_as_lengths_differ():
    outcome = traps.TRAPS["query_length"].run(SENTENCE)
    assert outcome.error == "shape '[3, 4, 4]' is invalid for input of size 160"
    assert (outcome.facts[0].params["given"], outcome.facts[0].params["wanted"]) == (160, 48)
    expected = head_by_head(SENTENCE.q[-3:].numpy(), SENTENCE.k.numpy(), 4, 4)
    np.testing.assert_allclose(outcome.right.scores, expected[0], atol=1e-5)
    whole = heads.wrong_query_length(SENTENCE.x, SENTENCE.x, SENTENCE.w_q, SENTENCE.w_k, 4)
    np.testing.assert_allclose(whole.numpy(), head_by_head(SENTENCE.q.numpy(), SENTENCE.k.numpy(), 4, 4), atol=1e-5)


def turned_as_complex_numbers(x, at):
    """RoPE over three axes with 12, 10 and 10 pairs, each pair a complex number."""
    out, start = [], 0
    for pairs, place in zip((12, 10, 10), at.T, strict=True):
        part = x[:, start : start + 2 * pairs]
        rates = np.array([100.0 ** (-n / pairs) for n in range(pairs)])
        turned = (part[:, :pairs] + 1j * part[:, pairs:]) * np.exp(1j * place[:, None] * rates)
        out += [turned.real, turned.imag]
        start += 2 * pairs
    return np.concatenate(out, -1)


def test_three_axes_turn_31_of_32_pairs_until_pairs_are_divided():
    torch_generator = torch.Generator().manual_seed(0)
    x = torch.randn(5, 64, generator=torch_generator)
    at = torch.tensor([[3, 1, 2]]).repeat(5, 1)
    still = (places.wrong_odd_axes(x, at) == x).all(0)
    assert still.nonzero().flatten().tolist() == [42, 63]  # the last of each share of 21
    assert not (places.right_odd_axes(x, at) == x).all(0).any()
    expected = turned_as_complex_numbers(x.double().numpy(), at.numpy())
    np.testing.assert_allclose(places.right_odd_axes(x, at).numpy(), expected, atol=1e-5)
    told = traps.TRAPS["odd_axes"].run(SENTENCE).facts[0].params
    assert (told["turned"], told["pairs"], told["all"]) == (31, 32, 32)


def test_the_weights_under_three_axes_are_those_of_complex_numbers():
    q, k = (vector.double().numpy() for vector in places.vectors(SENTENCE))
    at = np.array([(n // 9, n // 3 % 3, n % 3) for n in range(len(SENTENCE))])
    scores = turned_as_complex_numbers(q, at) @ turned_as_complex_numbers(k, at).T / 8
    np.testing.assert_allclose(traps.TRAPS["odd_axes"].run(SENTENCE).right.scores, softmax(scores), atol=1e-4)


def test_the_word_that_hands_out_least_is_named_wherever_it_stands():
    other = sentence(split("the cat sat on the mat because it was tired"), seed=LEAST_IS_NOT_FIRST)
    scores = other.scores.double().numpy()
    kept = np.tril(softmax(scores)).sum(-1)
    told = traps.TRAPS["softmax_first"].run(other).facts[0].params
    assert kept.argmin() > 0
    assert told["word"] == other.words[kept.argmin()]
    assert told["low"] == told["share"] == pytest.approx(kept.min(), abs=1e-5)


def test_a_transposed_padding_mask_fits_a_square_batch_and_the_right_one_is_each_sentence_alone():
    n = len(SENTENCE)
    layer, seen = padding.encoder_layer(SENTENCE)
    with torch.no_grad():
        layer(SENTENCE.x[: n // 2 + 1, None])
    right = traps.TRAPS["transposed_padding"].run(SENTENCE).right.scores
    np.testing.assert_allclose(right[: n // 2 + 1, : n // 2 + 1], seen[0][0], atol=1e-6)
    assert (right[:, n // 2 + 1 :] == 0).all()
    fits = torch.ones(n, n - 1, dtype=torch.bool)  # B is not T
    with pytest.raises(AssertionError):
        padding.wrong_transposed_padding(layer, torch.zeros(n - 1, n, 16), fits)


@pytest.mark.parametrize("trap", ["before_scaling", "softmax_first", "ignored_mask", "integer_positions"])
def test_of_one_word_no_harm_is_told_where_none_is_done(trap):
    outcome = traps.TRAPS[trap].run(sentence(("a",)))
    told = " ".join(map(str, outcome.facts))
    assert outcome.largest == 0
    assert "With one word there is no" in told
    assert not re.search("leaks|shrinks|never safe|is lost|gives", told)
    assert "With one word" not in " ".join(map(str, traps.TRAPS[trap].run(sentence(("a",) * 4)).facts))
