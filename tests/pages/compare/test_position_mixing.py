"""What is shared: matrices against torch's Jacobian, heads against a kernel by least squares, parameters by count."""

import pytest
import torch
from torch import nn

from attnviz.core.modules import seeded_generator
from attnviz.pages.compare.maths import compared_layers, position_mixing
from attnviz.pages.compare.maths.layer_costs import Config as Sizes
from attnviz.pages.compare.maths.position_mixing import Config


@pytest.mark.parametrize("kind", position_mixing.KINDS)
def test_a_matrix_is_the_norms_of_torchs_own_jacobian(kind):
    with seeded_generator(0):
        layer = compared_layers.make_layer(kind, 6, heads=2, k=3)
    x = torch.randn(5, 6, generator=torch.Generator().manual_seed(1))
    jacobian = torch.autograd.functional.jacobian(lambda one: layer(one.unsqueeze(0))[0], x)  # (n, d, n, d)
    expected = jacobian.square().sum((1, 3)).sqrt().numpy()
    assert position_mixing.measure_mixing(layer, x) == pytest.approx(expected, rel=1e-4, abs=1e-7)


def test_a_convolution_treats_every_place_and_every_input_alike_and_attention_neither():
    mixing = position_mixing.run(Config())
    assert mixing["conv"].input_change == pytest.approx(0, abs=1e-6)
    assert mixing["conv"].unevenness == pytest.approx(0, abs=1e-6)
    assert mixing["attention"].input_change > 0.3
    assert mixing["attention"].unevenness > 0.3
    assert 0 < mixing["lstm"].input_change < mixing["attention"].input_change


def test_parameters_by_formula_are_those_of_torchs_modules():
    sizes = Sizes(n=6, d=8, k=5, heads=2)
    n, d = 6, 8
    modules = {
        "attention": nn.MultiheadAttention(d, 2),
        "lstm": nn.LSTM(d, d),
        "gru": nn.GRU(d, d),
        "rnn": nn.RNN(d, d),
        "conv": nn.Conv1d(d, d, 5),
        "dense": nn.Linear(n * d, n * d),
        "mixer": nn.Linear(n, n),
        "positions": nn.ModuleList([nn.MultiheadAttention(d, 2), nn.Embedding(n, d)]),
    }
    for kind, module in modules.items():
        assert compared_layers.count_parameters(kind, sizes) == sum(p.numel() for p in module.parameters()), kind
