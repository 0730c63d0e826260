"""Means and costs of the heads of a model that is not of transformers and names its arguments as it likes."""

import numpy as np
import pytest
from torch import Tensor
from torch.nn import functional as F

import attnviz as av
from tests.models.capture.plain_models import HEADS, Own
from tests.models.tiny import tokens


@pytest.fixture(scope="module")
def model() -> Own:
    return Own().eval()


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
