"""Edits by the field's names do what the same written as an Edit does."""

import pytest
import torch
from torch.testing import assert_close

import attnviz as av
from tests.models.tiny import llama, tokens

MODEL, IDS = llama(), tokens()
MEANS = av.mean_outputs(MODEL, [tokens(seed=4)])
OTHER = av.capture(MODEL, tokens(seed=5))
VECTOR = torch.randn(48, generator=torch.Generator().manual_seed(0))
SAME = {
    "ablate by zero": (av.ablate(1, 2), av.Edit(1, 2, silence=True)),
    "ablate by mean": (av.ablate(1, 2, by="mean", source=MEANS), av.Edit(1, 2, output=MEANS)),
    "ablate by resample": (av.ablate(1, 2, by="resample"), av.Edit(1, 2, output=lambda own: own.roll(1, 0))),
    "ablate by another prompt": (av.ablate(0, by="resample", source=OTHER, at=-1), av.Edit(0, output=OTHER, at=-1)),
    "knockout": (av.knockout(0, queries=[-1, 3], keys=[0, 1]), av.Edit(0, block=[(6, 0), (6, 1), (3, 0), (3, 1)])),
    "steer": (av.steer(1, VECTOR, factor=2.0, at=3), av.Edit(1, stream=lambda own: own + 2 * VECTOR, at=3)),
}


@pytest.mark.parametrize("name", SAME)
def test_it_is_the_edit_that_it_names(name: str) -> None:
    one, two = (av.intervene(MODEL, edit, IDS).logits for edit in SAME[name])
    assert_close(one, two)
    assert not torch.equal(one, av.capture(MODEL, IDS).logits)


def test_z_and_head_writes_are_the_outputs_of_heads() -> None:
    layer = av.capture(MODEL, IDS, residual=True)[1]
    assert torch.equal(layer.z(2), layer.head_outputs(2))
    assert torch.equal(layer.head_writes([2, 3]), layer.head_outputs([2, 3], projected=True))


@pytest.mark.parametrize("wrong", [{"by": "median"}, {"by": "mean"}, {"source": OTHER}])
def test_an_ablation_without_its_source_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(av.Problem, match="by="):
        av.ablate(0, 0, **wrong)
