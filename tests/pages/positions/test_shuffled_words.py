"""Words in another order: what stays and what changes, against torch's own attention module."""

import numpy as np
import pytest
import torch

from attnviz.pages.positions.maths import position_scores, shuffled_words
from attnviz.pages.positions.maths.shuffled_words import Config, run

WORDS = ("one", "two", "three", "one", "five")


def test_without_positions_the_outputs_permute_with_the_words():
    for order in shuffled_words.ORDERS:
        result = run(Config(WORDS, order=order, seed=3))
        assert result.is_unchanged
        assert result.change < 1e-14
        assert result.before == pytest.approx(result.after, abs=1e-14)
        assert result.largest > 0.1, "the outputs are not just all zero"


@pytest.mark.parametrize("kind", [kind for kind in position_scores.KINDS if kind != "none"])
def test_with_positions_they_do_not(kind):
    result = run(Config(WORDS, kind, "shuffle", seed=1))
    assert not result.is_unchanged
    assert result.change > 0.01
    assert np.abs(result.before - result.after).max() > 0.001


def test_the_attention_is_torchs_own():
    result = run(Config(WORDS, seed=5))
    x, (w_q, w_k, w_v) = shuffled_words.make_inputs(WORDS, 5)
    theirs = torch.nn.MultiheadAttention(32, 4, bias=False, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([w_q.T, w_k.T, w_v.T]))
        theirs.out_proj.weight.copy_(torch.eye(32))
        output, weights = theirs(x[None], x[None], x[None], average_attn_weights=False)
    assert weights[0, 0].numpy() == pytest.approx(result.before, abs=1e-12)
    assert float(output.abs().max()) == pytest.approx(result.largest, abs=1e-12)
