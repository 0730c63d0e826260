"""Formulas against torch's FLOP counter, crossings against the costs around them, paths against reachability."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
import torch

from attnviz.pages.compare.maths import compared_layers, layer_costs
from attnviz.pages.compare.maths.layer_costs import Config

SIZES = [
    Config(),
    Config(n=1, d=8, k=2, window=2, heads=1),
    Config(n=37, d=96, k=5, window=7, heads=4),
    Config(n=300, d=24, k=16, window=64, heads=24),
    Config(n=20, d=24, k=16, window=1 << 16, heads=24),
]


@pytest.mark.parametrize("config", SIZES)
def test_every_formula_is_what_torch_counts(config):
    rows = compared_layers.count_layers(config)
    assert [row.kind for row in rows] == list(layer_costs.KINDS)
    assert all(row.agrees for row in rows), [row for row in rows if not row.agrees]
    assert all(min(row.by_torch) > 0 for row in rows)


def test_the_table_as_quoted_is_the_papers():
    config = Config(n=70, d=512, k=3, window=16, heads=8, counting="table")
    cost = {kind: numbers[0] for kind, numbers in layer_costs.run(config).here.items()}
    assert cost["attention"] == 70**2 * 512
    assert cost["rnn"] == 70 * 512**2
    assert cost["conv"] == 3 * 70 * 512**2
    assert cost["window"] == 16 * 70 * 512
    assert cost["linear"] == 70 * 512 * 64


@pytest.mark.parametrize("counting, axis", list(product(["built", "table"], ["n", "d", "k"])))
@pytest.mark.parametrize("base", [Config(n=3000, d=640, k=9, heads=8), Config(n=100, d=512, k=2, heads=1)])
def test_costs_are_equal_at_a_crossing_and_change_sides_around_it(counting, axis, base):
    config = replace(base, counting=counting, axis=axis)
    for found in layer_costs.run(config).crossings:
        mine, other = (layer_costs.terms(kind, config) for kind in ("attention", found.kind))
        if found.position is None:
            sides = {_side(mine, other, config, Fraction(x)) for x in (1, 7, 1000, 10**6)}
            assert sides == {{"cheaper": -1, "dearer": 1, "equal": 0}[found.attention_is]}
            continue
        assert _side(mine, other, config, found.position) == 0
        before, after = (_side(mine, other, config, found.position * factor) for factor in (Fraction(1, 3), 3))
        assert (before, after) == {"cheaper": (-1, 1), "dearer": (1, -1), "equal": (0, 1)}[found.attention_is]


def _side(mine, other, config, x):
    """The sign of attention's cost minus the other's at x, from the terms themselves and exactly."""
    at = {"n": Fraction(config.n), "d": Fraction(config.d), "k": Fraction(config.k), config.axis: x}

    def cost(t):
        return (
            t.constant
            + t.n * at["n"]
            + t.d * at["d"]
            + t.kd * at["k"] * at["d"]
            + t.window * min(config.window, at["n"])
        )

    gap = cost(mine) - cost(other)
    return (gap > 0) - (gap < 0)


@pytest.mark.parametrize("kind", ["conv", "window", "dilated", "attention", "linear", "rnn"])
@pytest.mark.parametrize("n", [1, 2, 9, 10, 37, 64, 65])
def test_a_path_has_as_many_layers_as_take_the_first_input_to_the_last_output(kind, n):
    config = Config(n=n, d=8, k=4, window=10, heads=2)
    if kind == "rnn":
        assert layer_costs.path(kind, config) == n, "a recurrence takes a step for each place"
        return
    reached, layers = {n - 1}, 0
    while not layers or 0 not in reached:
        apart = {"conv": range(4), "window": range(10), "dilated": range(0, 4 * 4**layers, 4**layers)}.get(
            kind, range(n)
        )
        reached, layers = {place - step for place in reached for step in apart if place >= step}, layers + 1
    assert layer_costs.path(kind, config) == layers


@pytest.mark.parametrize("distance, k, dilated", [(1, 2, False), (7, 3, False), (9, 4, True), (20, 3, False)])
def test_steps_of_the_race_are_those_after_which_torch_layers_know_of_the_first_word(distance, k, dilated):
    steps = layer_costs.race_steps(distance, k, dilated)

    def sees(layers):
        x = torch.randn(1, distance + 1, 4, generator=torch.Generator().manual_seed(0), requires_grad=True)
        return bool(torch.autograd.grad(torch.nn.Sequential(*layers)(x)[0, -1].sum(), x)[0][0, 0].abs().sum())

    stack = [compared_layers.CausalConvolution(4, k, k**n if dilated else 1) for n in range(steps["convolution"])]
    assert sees(stack)
    assert not stack[:-1] or not sees(stack[:-1])
    assert sees([compared_layers.make_layer("attention", 4)])
    assert steps["attention"] == 1
    cell, state, seen = torch.nn.RNNCell(4, 4), torch.randn(1, 4), 0
    first = torch.randn(1, 4, requires_grad=True)
    state = cell(first, state.detach())
    while seen < distance:
        state, seen = cell(torch.randn(1, 4), state), seen + 1
    assert torch.autograd.grad(state.sum(), first)[0].abs().sum() > 0
    assert seen == steps["recurrence"]
