"""Scores, means and costs of the heads of a model that is not of transformers and names its arguments as it likes."""

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

import attnviz as av
from tests.models.capture.plain_models import HEADS, Own
from tests.models.tiny import tokens


@pytest.fixture(scope="module")
def model() -> Own:
    return Own().eval()


def test_scores_are_the_mean_of_its_own_weights(model: Own) -> None:
    ids = tokens(3, 8)
    table = av.find_heads(model, [ids[:2], ids[2].tolist()], ("previous_token",))
    weights = torch.stack([layer.weights() for layer in av.capture(model, ids)])  # (L, B, H, Q, K)
    expected = weights.diagonal(-1, -2, -1).mean((1, 3))
    np.testing.assert_allclose(table.mean["previous_token"], expected, atol=1e-6)
    assert table.sentences == 3


def test_costs_are_those_of_one_edited_pass_for_each_head(model: Own) -> None:
    ids = tokens(2, 8)
    table = av.cost_of_heads(model, [ids], means=av.mean_outputs(model, [ids]))
    assert set(table.mean) == {"silenced", "mean", "direct"}

    def loss(logits: Tensor) -> float:
        return float(F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten()))

    before = loss(av.capture(model, ids, logits="all").logits)
    for layer in range(2):
        for head in range(HEADS):
            edit = av.Edit(layers=f"h.{layer}", heads=head, silence=True)
            after = loss(av.intervene(model, edit, ids, logits="all").logits)
            assert table.mean["silenced"][layer, head] == pytest.approx(after - before, abs=1e-5)
    assert np.ptp(table.mean["silenced"]) > 1e-3
