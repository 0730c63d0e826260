"""Scores that grow: what was answered stays, and the work grows with the sentences and not with their square."""

from __future__ import annotations

import numpy as np
import pytest

from attnviz.base.message import Problem
from attnviz.runs.heads import head_scores
from attnviz.runs.heads.head_scores import GrowingScores

PLACES, NAMES = ((0, 0), (0, 1)), ("a", "a")


def test_every_answer_holds_the_rows_added_up_to_then() -> None:
    growing, rows = GrowingScores(), np.arange(100.0).reshape(50, 2)
    answers = []
    for row in rows:
        growing.add(PLACES, NAMES, {"x": row[None]})
        answers.append(growing.so_far())
    for count, answer in enumerate(answers, 1):
        assert answer.sentences == count
        np.testing.assert_array_equal(answer.by_sentence["x"], rows[:count])


def test_a_thousand_sentences_are_not_copied_a_thousand_times(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    empty = np.empty
    monkeypatch.setattr(head_scores.np, "empty", lambda shape: made.append(shape[0]) or empty(shape))
    growing = GrowingScores()
    for _ in range(1000):
        growing.add(PLACES, NAMES, {"x": np.zeros((1, 2))})
        growing.so_far()
    assert sum(made) <= 4 * 1000


def test_other_heads_than_at_first_and_nothing_at_all_are_refused() -> None:
    growing = GrowingScores()
    with pytest.raises(Problem, match="no sentence"):
        growing.so_far()
    growing.add(PLACES, NAMES, {"x": np.zeros((1, 2))})
    with pytest.raises(Problem, match="other layers"):
        growing.add(PLACES[:1], NAMES[:1], {"x": np.zeros((1, 1))})
