"""Every trap: the shown code is what runs, the right side is right, and the wrong side is wrong."""

import math
import re
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from attnviz.core import masks
from attnviz.core.attention import attend
from attnviz.core.message import Problem
from attnviz.experiments.masks import traps
from attnviz.experiments.masks.traps import fill, floor_division, left_padding, meaning, unused_projections
from attnviz.experiments.word_vectors import sentence
from attnviz.word_boundaries import split

README = Path(__file__).parents[4] / "README.md"
SENTENCE = sentence(split("the cat sat on the mat because it was tired"), seed=0)

#: What the right code must equal, computed without the trap's code: attend() on the same scores.
CAUSAL = {"softmax_first", "ignored_mask", "meaning"}
UNMASKED = {"floor_division", "linear_weight", "dropout_in_eval", "unused_projections"}


def reference(mask=None):
    q, k, v = (t.unsqueeze(0) for t in (SENTENCE.q, SENTENCE.k, SENTENCE.v))
    return attend(q, k, v, mask=mask).weights[0].numpy()


@pytest.mark.parametrize("trap", sorted(CAUSAL | UNMASKED))
def test_the_right_code_is_attention_as_the_core_computes_it(trap):
    expected = reference(masks.causal(len(SENTENCE)) if trap in CAUSAL else None)
    np.testing.assert_allclose(traps.run(trap, SENTENCE).right.values, expected, atol=1e-6)


def test_the_readme_counts_the_traps():
    number = {10: "ten", 11: "eleven", 12: "twelve", 13: "thirteen", 14: "fourteen"}[len(traps.TRAPS)]
    assert f"{number} mistakes" in README.read_text("utf-8")


@pytest.mark.parametrize("trap", traps.TRAPS)
def test_the_wrong_code_differs_in_this_sentence(trap):
    outcome = traps.run(trap, SENTENCE)
    assert outcome.largest > 0.05
    assert outcome.wrong.values.shape == outcome.right.values.shape
    assert outcome.wrong.values.shape == (len(outcome.wrong.rows), len(outcome.wrong.cols))
    assert all(str(fact) for fact in outcome.facts)


@pytest.mark.parametrize("trap", traps.TRAPS)
@pytest.mark.parametrize("words", [("one",), ("so", "so"), tuple(map(str, range(100)))], ids=["1", "2", "100"])
def test_sentences_of_any_length_are_taken(trap, words):
    outcome = traps.run(trap, sentence(words, 1))
    assert not math.isnan(outcome.largest)


def pasted(code):
    """The namespace of a notebook into which imports and code were pasted."""
    names = {}
    exec("from __future__ import annotations\n" + traps.IMPORTS + code, names)
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
    np.testing.assert_array_equal(again.wrong.values, expected.wrong.values)
    np.testing.assert_array_equal(again.right.values, expected.right.values)
    assert again.facts == expected.facts


def test_an_empty_row_is_uniform_with_a_billion_nan_with_infinity_and_zero_with_ours():
    table = {(row[0], row[1]): str(row[2]) for row in traps.run("fill", SENTENCE).table[1:]}
    assert table["float32", "-1e9"] == "uniform: 0.100 each"
    assert table["bfloat16", "finfo.min"] == "uniform: 0.100 each"
    assert re.match("error: .*overflow", table["float16", "-1e9"])
    for dtype in ("float32", "bfloat16", "float16"):
        assert table[dtype, "-inf"] == "NaN"
        assert table[dtype, "finfo.min, twice"] == "NaN"
        assert table[dtype, "-inf, then 0"] == "zeros"


def test_zeros_of_the_right_fill_are_those_of_attend():
    mask = fill.mask_with_an_empty_row(len(SENTENCE))
    np.testing.assert_allclose(traps.run("fill", SENTENCE).right.values, reference(mask), atol=1e-6)


def test_multihead_attention_hides_where_sdpa_attends():
    mask = masks.causal(len(SENTENCE))
    with torch.no_grad():
        mha = meaning.module(SENTENCE)
        hidden, _ = meaning.wrong(mha, SENTENCE.x, mask, mask[-1])
        sdpa = meaning.same_with_sdpa(mha, SENTENCE.x, mask)
    assert hidden[-1].isnan().all()
    assert (hidden[:-1][mask[:-1]] == 0).all()
    np.testing.assert_allclose(sdpa.numpy(), reference(mask), atol=1e-6)


def test_a_finite_fill_added_before_scaling_leaks_and_infinity_does_not():
    rows = {row[0]: (float(row[1]), float(row[2])) for row in traps.run("before_scaling", SENTENCE).table[1:]}
    assert rows["-inf"] == (0, 0)
    assert rows["-10"][0] > 100 * rows["-10"][1]


def test_the_newest_word_sees_as_many_keys_as_there_are_new_words():
    outcome = traps.run("top_left", SENTENCE)
    assert (outcome.wrong.values[-1] > 0).sum() == 3
    assert (outcome.right.values[-1] > 0).sum() == 10


def test_shifted_positions_make_padding_invisible_and_rope_never_needed_them():
    alone = left_padding._absolute_weights(SENTENCE, SENTENCE.x, torch.arange(10), torch.ones(10))
    np.testing.assert_allclose(traps.run("left_padding", SENTENCE).right.values, alone.numpy(), atol=1e-6)
    x = torch.randn(6, 16)
    near = left_padding.rotated(x, torch.arange(6)) @ left_padding.rotated(x, torch.arange(6)).T
    far = left_padding.rotated(x, torch.arange(6) + 9) @ left_padding.rotated(x, torch.arange(6) + 9).T
    torch.testing.assert_close(near, far, atol=1e-4, rtol=1e-4)


def test_a_double_slash_leaves_whole_numbers_and_no_gradient():
    assert "floor_divide" in floor_division.error_in_training(SENTENCE.q, SENTENCE.k)


def test_unused_projections_pass_the_shape_test_and_fail_the_gradient_test():
    for kind, dead in ((unused_projections.Wrong, 3), (unused_projections.Right, 0)):
        module = unused_projections.with_weights_of(SENTENCE, kind)
        assert unused_projections.shapes_are_right(module, SENTENCE.x)
        assert unused_projections.without_gradient(module, SENTENCE.x) == (dead, 3)


def test_slices_of_the_first_head_are_right_and_of_the_others_overlap():
    differences = [float(row[3]) for row in traps.run("head_slices", SENTENCE).table[1:]]
    assert differences[0] == 0
    assert min(differences[1:]) > 0.01


def test_dropout_does_not_disturb_the_random_numbers_of_others():
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    traps.run("dropout_in_eval", SENTENCE)
    assert torch.equal(torch.rand(1), expected)


def test_an_unknown_trap_is_named():
    with pytest.raises(Problem, match="There is no trap 'mousetrap'"):
        traps.run("mousetrap", SENTENCE)
