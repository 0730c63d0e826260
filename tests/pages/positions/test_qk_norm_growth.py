"""Normalised queries and keys against torch's RMSNorm, and what the norm promises."""

import numpy as np
import pytest
import torch

from attnviz.core.rope import AxialRoPE, grid_positions
from attnviz.pages.positions.maths import qk_norm_growth
from attnviz.pages.positions.maths.qk_norm_growth import GRID, GROWTHS, HEADS, NORMS, Config, run


@pytest.mark.parametrize("norm", NORMS)
def test_weights_are_those_of_torchs_own_norm_and_softmax(norm):
    config = Config(norm, 4.0, 12, 3)
    result = run(config)
    x, w_q, w_k = qk_norm_growth.draw_patches(12, 3)
    whole = torch.nn.RMSNorm(HEADS * 12 if norm == "full" else 12, eps=1e-6, dtype=torch.float64)
    rope, grid = AxialRoPE(), grid_positions(*GRID)

    def heads(y, normed):
        if normed and norm == "full":
            y = whole(y)
        y = y.unflatten(-1, (HEADS, 12)).transpose(0, 1)
        return rope.rotate(whole(y) if normed and norm == "head" else y, grid)

    for normed, curves in ((False, result.without_norm), (True, result.with_norm)):
        q, k = heads(4 * x @ w_q, normed), heads(4 * x @ w_k, normed)
        logits = q @ k.mT / 12**0.5
        theirs = torch.nn.functional.scaled_dot_product_attention(
            q, k, torch.eye(len(x)).double().expand(HEADS, -1, -1)
        )
        assert theirs[0].detach().numpy() == pytest.approx(curves.weights, abs=1e-9)
        assert float(logits.detach().abs().max()) == pytest.approx(curves.largest, rel=1e-9)


def test_without_the_norm_logits_grow_with_the_square_and_rows_collapse():
    result = run(Config())
    assert result.without_norm.logit == pytest.approx(
        result.without_norm.logit[0] * (np.array(GROWTHS) / GROWTHS[0]) ** 2
    )
    assert result.without_norm.entropy[0] > 0.95
    assert result.without_norm.entropy[-1] < 0.02
    assert result.without_norm.gradient[-1] < 0.1 * result.without_norm.gradient.max()


@pytest.mark.parametrize("norm", NORMS)
def test_with_the_norm_growth_changes_nothing_and_no_logit_passes_the_bound(norm):
    for seed in range(3):
        result = run(Config(norm, seed=seed))
        for curve in (result.with_norm.logit, result.with_norm.entropy, result.with_norm.gradient):
            assert curve == pytest.approx(curve[-1], rel=1e-4)
        assert result.with_norm.logit.max() <= result.bound
        assert result.without_norm.logit.max() > result.bound
