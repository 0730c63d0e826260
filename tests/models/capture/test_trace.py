"""A trace as somebody holds it in a notebook: layers by number and name, moved, and as a table."""

import re
from typing import Any, Literal

import pytest
import torch
from torch import nn

import attnviz as av
from attnviz.base.message import Problem
from attnviz.models.catalogue import CATALOGUE, LoadedModel
from tests.models.tiny import bert, llama, tokens


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
    with pytest.raises(Problem, match=r"decoder \(decoder.layers\), encoder \(encoder.layers\); say stack="):
        trace.rollout()
    assert trace.rollout(stack="encoder").shape == (1, 1, 4, 4)
    lines = repr(trace).splitlines()
    assert lines[2].startswith("  [1, 3] decoder self: 2 heads, 1 x 4 x 4")
    assert lines[3].startswith("  [2, 4] decoder cross: 2 heads, 1 x 4 x 4")


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


def test_it_says_what_is_in_it() -> None:
    trace = av.capture(llama(), tokens(), residual=True)
    first, kinds, rest = repr(trace).splitlines()
    assert re.fullmatch(r"<Trace: 2 layers, [0-9.]+ kB", first)
    assert kinds == (
        '  [0-1] decoder self: 6 heads on 2, 2 x 7 x 7, "model.layers.0.self_attn" to "model.layers.1.self_attn"'
    )
    assert rest == "  logits (2, 100), input_ids (2, 7), residual stream at 3 places>"
    edited = av.intervene(llama(), av.Edit(layers=1, heads=2, silence=True), input_ids=tokens())
    assert repr(edited).splitlines()[1:3] == [
        '  [0] decoder self: 6 heads on 2, 2 x 7 x 7, "model.layers.0.self_attn"',
        '  [1] decoder self: 6 heads on 2, 2 x 7 x 7, changed, "model.layers.1.self_attn"',
    ]


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


def test_an_argument_in_the_place_of_an_edit_is_named() -> None:
    with pytest.raises(Problem, match="Tensor is not an edit: intervene takes the model, one Edit or a list"):
        av.intervene(llama(), tokens())
    layers: Any = [1]
    with pytest.raises(Problem, match="list is not an edit"):
        av.intervene(llama(), layers, tokens())
