"""Every trap: the shown code is what runs, the right side is right, and the wrong side is wrong."""

import math
import re
import sys

import numpy as np
import pytest

from attnviz.analysis.traps import IMPORTS
from attnviz.analysis.word_vectors import WIDTH, sentence
from attnviz.base.word_boundaries import split
from attnviz.core import masks
from attnviz.core.attention import attend
from attnviz.pages.masks.maths import traps
from attnviz.pages.masks.maths.traps import fills

SENTENCE = sentence(split("the cat sat on the mat because it was tired"), seed=0)

#: What the right code must equal, computed without the trap's code: attend() on the same scores, under this mask.
RIGHT = {
    **dict.fromkeys(("softmax_first", "ignored_mask", "meaning"), masks.causal(len(SENTENCE))),
    **dict.fromkeys(("floor_division", "linear_weight", "dropout_in_eval", "unused_projections")),
    "fill": fills.build_mask_with_empty_row(len(SENTENCE)),
}


def reference(mask=None):
    q, k, v = (t.unsqueeze(0) for t in (SENTENCE.q, SENTENCE.k, SENTENCE.v))
    return attend(q, k, v, mask=mask).weights[0].numpy()


@pytest.mark.parametrize("trap", RIGHT)
def test_the_right_code_is_attention_as_the_core_computes_it(trap):
    np.testing.assert_allclose(traps.TRAPS[trap].run(SENTENCE).right.scores, reference(RIGHT[trap]), atol=1e-6)


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


@pytest.mark.parametrize("trap", ["before_scaling", "softmax_first", "ignored_mask", "integer_positions"])
def test_of_one_word_no_harm_is_told_where_none_is_done(trap):
    outcome = traps.TRAPS[trap].run(sentence(("a",)))
    told = " ".join(map(str, outcome.facts))
    assert outcome.largest == 0
    assert "With one word there is no" in told
    assert not re.search("leaks|shrinks|never safe|is lost|gives", told)
    assert "With one word" not in " ".join(map(str, traps.TRAPS[trap].run(sentence(("a",) * 4)).facts))


def test_positions_in_whole_numbers_keep_the_cosines_of_the_first_place_alone():
    counts = traps.TRAPS["integer_positions"].run(SENTENCE).facts[0].params
    ones = WIDTH // 2
    assert counts == {"all": len(SENTENCE) * WIDTH, "ones": ones, "zeros": len(SENTENCE) * WIDTH - ones, "few": ones}


def test_numbers_of_sentences_are_those_of_the_matrices_beside_them():
    numbers = {name: traps.TRAPS[name].run(SENTENCE) for name in ("before_scaling", "cropped_mask", "odd_axes")}
    filled, cropped, odd = (outcome.facts[0].params for outcome in numbers.values())
    wrong, right = (getattr(numbers["before_scaling"], side).scores for side in ("wrong", "right"))
    assert (filled["divided"], filled["word"]) == (-10 / math.sqrt(WIDTH), "the")
    assert (filled["bad"], filled["good"]) == pytest.approx((wrong[0, 1:].sum(), right[0, 1:].sum()))
    q, k = SENTENCE.q.numpy(), SENTENCE.k.numpy()
    distance = np.subtract.outer(np.arange(len(q)), np.arange(len(q)))
    bias = np.where(distance < 0, -np.inf, -0.5 * distance)
    divided_too, added_after = (np.exp(x) for x in ((q @ k.T + bias) / WIDTH**0.5, q @ k.T / WIDTH**0.5 + bias))
    gap = np.abs(divided_too / divided_too.sum(1, keepdims=True) - added_after / added_after.sum(1, keepdims=True))
    assert numbers["before_scaling"].facts[1].params["gap"] == pytest.approx(gap.max(), abs=1e-5)
    wrong, right = (getattr(numbers["cropped_mask"], side).scores for side in ("wrong", "right"))
    assert (cropped["word"], cropped["seen"]) == ("tired", (wrong[-1] > 0).sum())
    assert (cropped["bad"], cropped["good"]) == ((wrong > 0).sum(), (right > 0).sum())
    assert (odd["turned"], odd["all"]) == ((odd["width"] - odd["bad"]) // 2, odd["pairs"])
