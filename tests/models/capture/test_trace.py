"""A trace as somebody holds it in a notebook: layers by number and name, moved, and as a table."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import attnviz as av
from attnviz.core.message import Problem
from tests.models.tiny import bert, llama, tokens


def test_layers_by_number_and_by_name() -> None:
    trace = av.capture(llama(), tokens())  # ids by position
    assert trace[0] is trace.layers[0]
    assert trace[-1] is trace.layers[-1]
    assert trace["model.layers.1.self_attn"] is trace[1]
    assert [layer.index for layer in trace] == list(range(len(trace)))
    with pytest.raises(IndexError, match=rf"layer 99 .* has {len(trace)}"):
        trace[99]
    with pytest.raises(KeyError, match=r"no layer of this trace is called model\.layers\.77.*model\.layers\.0"):
        trace["model.layers.77"]


def test_a_stack_has_to_be_named_only_where_there_are_several() -> None:
    model = nn.Transformer(8, 2, 1, 2, 16, batch_first=True).eval()
    x = torch.randn(1, 4, 8)
    trace = av.capture(model, x, x)
    assert trace.layer(1, kind="cross") is trace["decoder.layers.1.multihead_attn"]
    assert trace.layer(0, stack="encoder") is trace[0]
    with pytest.raises(Problem, match=r"decoder cross .*encoder self"):
        trace.layer(0)
    with pytest.raises(Problem, match="no layer 5"):
        trace.layer(5, stack="encoder")
    assert av.capture(bert(), tokens()).layer(1).index == 1


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


def test_moving_it_moves_every_tensor_and_nothing_else() -> None:
    moved = av.capture(llama(), tokens()).to("meta")
    assert moved.logits is not None
    assert {moved[0].device.type, moved.logits.device.type, moved.inputs["input_ids"].device.type} == {"meta"}
    assert moved[0].name == "model.layers.0.self_attn"
