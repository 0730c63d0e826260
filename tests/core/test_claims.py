"""Statements from lecture notes on attention, checked with the core."""

from __future__ import annotations

import torch

from attnviz.core.attention import attend


def test_dot_products_of_64_wide_normal_vectors_vary_by_64_and_scaled_by_1() -> None:
    torch.manual_seed(0)
    q, k = torch.randn(100_000, 64), torch.randn(100_000, 64)
    stages = attend(q[:, None, None], k[:, None, None], k[:, None, None])  # 100,000 pairs: a batch of 1x1 attentions
    assert round(stages.scores.var(correction=0).item(), 3) == 63.867
    assert round(stages.scaled.var(correction=0).item(), 4) == 0.9979


def test_the_softmax_example_of_the_notes_is_right() -> None:
    scores = torch.tensor([2.3, 9.1, 0.5])
    stages = attend(scores[None, None], torch.eye(3)[None], torch.eye(3)[None], scale=None)
    assert [round(w, 4) for w in stages.weights.flatten().tolist()] == [0.0011, 0.9987, 0.0002]


def test_rows_of_the_weights_sum_to_1_and_columns_in_general_do_not() -> None:
    torch.manual_seed(0)
    weights = attend(*(torch.randn(3, 8, 16) for _ in range(3))).weights
    torch.testing.assert_close(weights.sum(-1), torch.ones(3, 8))
    assert ((weights.sum(-2) - 1).abs() > 0.05).any()
