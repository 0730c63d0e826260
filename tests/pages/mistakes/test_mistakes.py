"""Every mistake: both programs run as they are shown, differ where it is said, and are told apart by the named test."""

import contextlib

import numpy as np
import pytest
import torch

from attnviz.analysis.word_vectors import sentence
from attnviz.core import masks
from attnviz.core.attention import attend
from attnviz.pages.mistakes.maths.all_mistakes import MISTAKES
from attnviz.pages.mistakes.maths.mistake import TOLERANCE, compare
from attnviz.pages.mistakes.panels import game
from tests.pages.claims import false_claims
from tests.pages.conftest import ran

WORDS = ("The", "cat", "sat", "on", "the", "mat", "because", "it", "was", "tired")
S = sentence(WORDS)
CAUSAL = masks.causal(10)
#: What right programs must give, computed without them: attend() on the same scores, under this mask.
RIGHT = {
    **dict.fromkeys(("softmax_first", "ignored_mask", "meaning", "floor_division", "mask_late", "skipped"), CAUSAL),
    **dict.fromkeys(("linear_weight", "unused_projections", "dropout_in_eval", "last_tile", "transposed_padding")),
    "fill": CAUSAL & (torch.arange(10) > 0),
    "empty_row": CAUSAL.triu(-3),
    "top_left": CAUSAL[-3:],
    "cropped_mask": CAUSAL[-3:],
    "wrong_dimension": CAUSAL[-5:],
}


@pytest.mark.parametrize("name", MISTAKES)
def test_both_programs_run_differ_where_it_is_said_and_the_named_test_tells_them_apart(name):
    mistake = MISTAKES[name]
    assert 7 <= len(mistake.wrong_code) <= 14
    assert all(mistake.wrong_code[number - 1].sign == "-" for number in mistake.wrong_lines)
    assert 1 <= len(mistake.wrong_lines) <= 2
    found = compare(mistake, WORDS, 0)
    assert found.right.passes
    assert not found.wrong.passes
    for side in ("right", "wrong"):  # what is pasted is what was compared
        with contextlib.ExitStack() as raises:
            if side == "wrong":
                raises.enter_context(pytest.raises((AssertionError, RuntimeError)))
            names, _printed = ran(mistake.notebook(side, WORDS, 0))
            np.testing.assert_allclose(names["weights"].detach().float().numpy(), found.right.weights, atol=1e-6)
    wrong, right = found.weights("wrong"), found.weights("right")
    if wrong is None:
        assert found.wrong.error
        assert "error" in game.describe(found, WORDS)
        return
    apart = ~(np.abs(wrong - right) <= TOLERANCE)  # where one has no number too
    assert found.apart == apart.sum() > 0
    assert apart[found.cell]
    if np.isfinite(wrong).all():
        assert np.abs(wrong - right)[found.cell] == np.abs(found.wrong.weights - found.right.weights).max()
        assert f"{wrong[found.cell]:.1%}; right is {right[found.cell]:.1%}" in game.describe(found, WORDS)


@pytest.mark.parametrize("name", RIGHT)
def test_the_right_program_is_attention_as_the_core_computes_it(name):
    right = compare(MISTAKES[name], WORDS, 0).right.weights
    q, k, v = (t.unsqueeze(0) for t in (S.q[-len(right) :], S.k, S.v))
    np.testing.assert_allclose(right, attend(q, k, v, mask=RIGHT[name]).weights[0].numpy(), atol=1e-6)


@pytest.mark.parametrize("name", MISTAKES)
@pytest.mark.parametrize("words", [("one",), ("the",) * 4, ("a", "cat"), tuple(map(str, range(128)))], ids=len)
def test_what_is_said_of_few_equal_and_many_words_is_so(name, words):
    found = compare(MISTAKES[name], words, 1)
    assert found.right.weights is not None
    assert np.isfinite(found.right.weights).all()
    assert not false_claims(game.describe(found, words).replace("*", ""))
