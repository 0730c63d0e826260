import numpy as np
import pytest
import torch

from attnviz.pages.masks.maths import leak_training
from attnviz.pages.masks.maths.leak_training import Config, examples, train

WORDS = ("the", "cat", "sat", "on", "the", "mat")


def test_one_causal_pass_has_the_losses_of_all_its_examples_taken_one_by_one():
    found = examples(WORDS, seed=2)
    np.testing.assert_allclose(found.together, found.apart, atol=1e-5)
    assert found.read[2] == ("the", "cat", "sat")
    assert found.following[2] == "on"
    assert found.pairs_apart == 1 + 4 + 9 + 16 + 25
    assert found.pairs_together == 5 * 5  # five words are read: nothing follows the sixth


def test_one_pass_reads_the_words_of_the_longest_example_and_no_more(monkeypatch):
    scores = []

    def counted(self, tokens, may_attend):
        scores.append(may_attend.numel())
        return forward(self, tokens, may_attend)

    forward = leak_training.TinyModel.forward
    monkeypatch.setattr(leak_training.TinyModel, "forward", counted)
    found = examples(WORDS, seed=2)
    assert scores[0] == found.pairs_together == 25
    assert sum(scores[1:]) == found.pairs_apart


def test_words_are_drawn_with_replacement_and_independently_of_those_before(monkeypatch):
    lines = []

    def collected(_model, _optimiser, mask, drawn):
        lines.append(drawn.numpy())
        return 0.0, np.zeros(mask.shape)

    monkeypatch.setattr(leak_training, "_step", collected)
    monkeypatch.setattr(leak_training, "next_word_loss", lambda _logits, _tokens: torch.tensor(0.0))
    list(train(Config(WORDS, steps=150)))
    drawn = np.concatenate(lines[::2])  # each line is read by both models
    assert all(np.array_equal(one, other) for one, other in zip(lines[::2], lines[1::2], strict=True))
    pairs = np.zeros((5, 5))
    np.add.at(pairs, (drawn[:, :-1].ravel(), drawn[:, 1:].ravel()), 1)
    expected = pairs.sum() / 25
    assert ((pairs - expected) ** 2 / expected).sum() < 51.2  # chi-square, 24 free cells: passed once in a thousand


def test_off_by_one_brings_the_loss_to_zero_and_fails_where_the_next_word_is_not_there():
    results = list(train(Config(WORDS, steps=150)))
    last = results[-1]
    assert last.done
    assert not results[0].done
    assert last.guess == pytest.approx(np.log(5))
    assert last.leaking[-1] < 0.05
    assert last.honest[-1] > 0.9 * last.guess
    assert last.without_leak[-1] > 2 * last.guess
    assert last.leaking_weights[4].argmax() == 5
    assert (last.honest_weights[4, 5:] == 0).all()
    assert ((last.leaking_weights > 0) == np.tri(12, k=1, dtype=bool)).all(), "one word ahead, and no more"
