"""Lengths of values after the output projection, and an adapter or another library's wrapper on it."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from attnviz.base.message import Problem
from attnviz.models.capture import capture
from attnviz.models.capture.output_projection import find_output_projection
from tests.models.tiny import bert, llama, tokens


class Lora(nn.Module):
    """As adapters wrap a layer: `weight` is still that of the layer below."""

    def __init__(self, base_layer: nn.Linear, dropout: float = 0.0) -> None:
        super().__init__()
        self.base_layer = base_layer
        self.lora_A = nn.Linear(base_layer.in_features, 3, bias=False)
        self.lora_B = nn.Linear(3, base_layer.out_features, bias=False)
        self.dropout = nn.Dropout(dropout)
        self.in_features = base_layer.in_features

    @property
    def weight(self):
        return self.base_layer.weight

    def forward(self, x):
        return self.base_layer(x) + 2.0 * self.lora_B(self.lora_A(self.dropout(x)))


def with_lora(**given):
    model = llama()
    torch.manual_seed(3)
    for layer in model.model.layers:
        layer.self_attn.o_proj = Lora(layer.self_attn.o_proj, **given)
    return model


def matrix_of(o):
    """What the layer with its adapter multiplies by."""
    return o.base_layer.weight.detach() + 2.0 * o.lora_B.weight.detach() @ o.lora_A.weight.detach()


def lengths_by_matrix(layer, matrix):
    """Each value of each head through that head's columns of the matrix, (B, H, K)."""
    heads = layer.shape[1]
    values = layer.v.repeat_interleave(heads // layer.v.shape[1], 1)
    return torch.einsum("mhd,bhkd->bhkm", matrix.unflatten(1, (heads, -1)), values).norm(dim=-1)


@pytest.mark.parametrize("length", [3, 7])  # fewer values than a head is wide, and more
def test_values_go_through_the_output_projection_and_an_adapter_on_it(length):
    model, ids = with_lora(), tokens(length=length)
    for layer, block in zip(capture(model, input_ids=ids).layers, model.model.layers, strict=True):
        o = block.self_attn.o_proj
        assert_close(layer.value_norms(), lengths_by_matrix(layer, matrix_of(o)), atol=1e-5, rtol=1e-4)
        assert not torch.allclose(layer.value_norms(), lengths_by_matrix(layer, o.weight), rtol=0.02)
        assert_close(find_output_projection(block.self_attn, block, 48), matrix_of(o), atol=1e-6, rtol=1e-5)
    plain = llama()
    layer = capture(plain, input_ids=ids).layers[0]
    w_o = plain.model.layers[0].self_attn.o_proj.weight
    assert_close(layer.value_norms(), lengths_by_matrix(layer, w_o), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("build", [llama, bert, with_lora])
def test_a_trace_stays_as_it_was_when_the_model_changes(build):
    model = build()
    trace = capture(model, input_ids=tokens())
    before = [layer.value_norms().clone() for layer in trace.layers]
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.data.normal_()
    for layer, norms in zip(trace.layers, before, strict=True):
        assert torch.equal(layer.value_norms(), norms)
        assert layer.w_o is None
    again = capture(model, input_ids=tokens()).layers
    assert not torch.allclose(again[0].value_norms(), before[0], rtol=0.1)


def test_an_output_projection_that_cannot_be_asked_costs_the_lengths_only():
    class Counts(nn.Linear):
        def forward(self, x):
            if x.dim() != 3:
                raise RuntimeError("three dimensions, please")
            return super().forward(x)

    model = llama()
    plain = capture(model, input_ids=tokens())
    for layer in model.model.layers:
        weight = layer.self_attn.o_proj.weight
        layer.self_attn.o_proj = Counts(48, 48, bias=False)
        layer.self_attn.o_proj.weight = weight
    trace = capture(model, input_ids=tokens())
    assert_close(trace.logits, plain.logits)
    with pytest.raises(Problem, match="value weighting is not available"):
        trace.layers[0].value_norms()
