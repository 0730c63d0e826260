import numpy as np
import pytest

from attnviz.pages.masks.maths.leak_training import Config, examples, train

WORDS = ("the", "cat", "sat", "on", "the", "mat")


def test_one_causal_pass_has_the_losses_of_all_its_examples_taken_one_by_one():
    found = examples(WORDS, seed=2)
    np.testing.assert_allclose(found.one_pass_losses, found.separate_losses, atol=1e-5)
    assert found.prefixes[2] == ("the", "cat", "sat")
    assert found.next_words[2] == "on"
    assert found.pairs_apart == 1 + 4 + 9 + 16 + 25
    assert found.pairs_together == 5 * 5  # five words are read: nothing follows the sixth


def test_off_by_one_brings_the_loss_to_zero_and_fails_where_the_next_word_is_not_there():
    results = list(train(Config(WORDS, steps=150)))
    last = results[-1]
    assert last.is_done
    assert not results[0].is_done
    assert last.guess == pytest.approx(np.log(5))
    assert last.leaking[-1] < 0.05
    assert last.honest[-1] > 0.9 * last.guess
    assert last.without_leak[-1] > 2 * last.guess
    assert last.leaking_weights[4].argmax() == 5
    assert (last.honest_weights[4, 5:] == 0).all()
    assert ((last.leaking_weights > 0) == np.tri(12, k=1, dtype=bool)).all(), "one word ahead, and no more"
