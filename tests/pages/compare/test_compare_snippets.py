"""The programs that the page shows, run in the state shown: they print the page's own numbers."""

import pytest

from attnviz.pages.compare.maths import (
    compared_layers,
    layer_costs,
    layer_timing,
    position_mixing,
    reach_training,
)
from tests.pages.conftest import ran


@pytest.mark.parametrize(
    "config",
    [layer_costs.Config(n=40, d=96, k=7, heads=3), layer_costs.Config(n=20, d=8, heads=2)],
)
def test_the_first_counts_what_the_page_counts(config):
    found, printed = ran(compared_layers.program(config))
    here = layer_costs.run(config).here
    assert found["flops"] == {kind: here[kind][0] for kind in found["flops"]}
    crossings = {each.kind: each.at for each in layer_costs.run(config).crossings}
    assert f"an LSTM at n = {crossings['lstm']} and as a GRU at n = {crossings['gru']}" in printed


def test_as_quoted_it_prints_the_leading_terms():
    config = layer_costs.Config(n=70, d=64, k=5, counting="table")
    found, printed = ran(compared_layers.program(config))
    result = layer_costs.run(config)
    assert found["operations"] == {kind: result.here[kind][0] for kind in found["operations"]}
    crossings = {each.kind: each.at for each in result.crossings}
    assert f"a recurrence at n = {crossings['rnn']} and as a convolution at n = {crossings['conv']}" in printed


@pytest.mark.slow
def test_the_second_measures_the_same_layers():
    found, printed = ran(layer_timing.program(layer_timing.Config(d=16, heads=2, longest=128, training=True, rounds=1)))
    result = found["result"]
    assert (result.config.training, len(result.timings)) == (True, result.of)
    for kind in layer_timing.KINDS:
        n, seconds, _ = result.curve(kind)
        assert n.tolist() == [32, 64, 128]
        assert (seconds > 0).all()
        assert (
            f"{kind:10} {seconds[-1] * 1e3:9.3f} ms at n = 128, grows as n^{result.exponents(kind)[0]:.2f}" in printed
        )


@pytest.mark.parametrize(
    "config",
    [
        reach_training.Config(n=12, steps=3, layers=2, k=2, seed=3, remember=2.0, rate=0.005),
        reach_training.Config(n=9, steps=0),
    ],
)
def test_the_third_trains_to_the_pages_numbers(config):
    _found, printed = ran(reach_training.program(config))
    for kind, reached in reach_training.run(config).reached.items():
        assert f"{kind:10} gradient at the first token {reached.at_start[0]:.3g}, then {reached.now[0]:.3g}" in printed
        assert f"{kind:10} {reached.end_accuracy:.1%} right" in printed


def test_the_fourth_counts_parameters_and_what_heads_miss():
    sizes, kernel = layer_costs.Config(n=50, d=32, k=4, heads=4), position_mixing.KernelConfig(k=6)
    found, _printed = ran(position_mixing.program(sizes, kernel))
    assert found["parameters"] == {kind: compared_layers.parameters(kind, sizes) for kind in found["parameters"]}
    assert set(found["parameters"]) == {"attention", "lstm", "gru", "conv", "dense"}
    result = position_mixing.run_kernel(kernel)
    assert found["missed"] == pytest.approx(result.best, abs=1e-9)
    assert found["average"] == pytest.approx(result.average)
