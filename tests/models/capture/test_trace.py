"""A trace as somebody holds it in a notebook: layers by number and name, moved, and as a table."""

from typing import Literal

import pytest
import torch

import attnviz as av
from attnviz.base.message import Problem
from attnviz.models.catalogue import CATALOGUE, LoadedModel
from tests.models.tiny import llama, tokens


def test_layers_by_number_and_by_name() -> None:
    trace = av.capture(llama(), tokens())  # ids by position
    assert trace[0] is trace.layers[0]
    assert trace[-1] is trace.layers[-1]
    assert trace["model.layers.1.self_attn"] is trace[1]
    assert [layer.index for layer in trace] == list(range(len(trace)))
    assert trace[:2] == (trace[0], trace[1])
    with pytest.raises(IndexError, match=rf"layer 99 .* has {len(trace)}"):
        trace[99]
    with pytest.raises(KeyError, match=r"no layer of this trace is called model\.layers\.77.*model\.layers\.0"):
        trace["model.layers.77"]


def test_the_table_holds_every_weight_once() -> None:
    trace = av.capture(llama(), tokens(2, 5))
    table = trace.to_dataframe()
    assert len(table) == sum(layer.weights().numel() for layer in trace)
    row = table[
        (table.layer == 1) & (table.batch == 1) & (table["head"] == 2) & (table["query"] == 4) & (table.key == 3)
    ]
    assert row.weight.item() == pytest.approx(trace[1].weights(2)[1, 0, 4, 3].item())
    few = trace.to_dataframe(layers="model.layers.1.self_attn", heads=2)
    assert set(few["head"]) == {2}
    assert len(few) == 2 * 5 * 5


@pytest.mark.parametrize("heads", ["mean", "max"])
def test_rollout_is_the_running_product_of_the_layers(heads: Literal["mean", "max"]) -> None:
    trace = av.capture(llama(), tokens(), logits=None)
    flow = trace.rollout(heads=heads, residual=0.4)
    expected = torch.eye(7).expand(2, 7, 7)
    for layer in trace:
        weights = layer.weights()
        joined = weights.mean(1) if heads == "mean" else weights.max(1).values
        mixed = 0.6 * joined + 0.4 * torch.eye(7)
        expected = mixed / mixed.sum(-1, keepdim=True) @ expected
    assert flow.shape == (2, 2, 7, 7)
    torch.testing.assert_close(flow[-1], expected)
    torch.testing.assert_close(flow.sum(-1), torch.ones(2, 2, 7))


def test_a_loaded_model_stands_for_its_model_and_anything_else_is_refused() -> None:
    model, ids = llama(), tokens()
    loaded = LoadedModel(model, None, CATALOGUE[0], "folder")
    edit = av.Edit(layers=1, heads=2, silence=True)
    assert torch.equal(av.capture(loaded, ids).logits, av.capture(model, ids).logits)
    assert torch.equal(av.intervene(loaded, edit, ids).logits, av.intervene(model, edit, ids).logits)
    with pytest.raises(Problem, match="'gpt2' is neither a model nor a method of one"):
        av.intervene("gpt2", edit, ids)
