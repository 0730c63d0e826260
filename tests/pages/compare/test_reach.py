"""Gradients by distance against the full Jacobian, and the copying task as it is trained."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from attnviz.pages.compare.maths import reach_training
from attnviz.pages.compare.maths.reach_training import Config

SMALL = Config(n=8, d=8, heads=2, layers=2, steps=25)


@pytest.mark.parametrize("kind", reach_training.KINDS)
def test_the_influence_is_the_norm_of_torchs_own_jacobian(kind):
    model = reach_training.make_model(kind, SMALL)
    x = torch.randn(8, 8, generator=torch.Generator().manual_seed(3))
    jacobian = torch.autograd.functional.jacobian(lambda one: model.last(one.unsqueeze(0))[0], x)  # (d, n, d)
    expected = jacobian.square().sum((0, 2)).sqrt().numpy()
    assert reach_training.gradient_by_position(model.last, x) == pytest.approx(expected, rel=1e-4, abs=1e-9)


def test_a_convolution_depends_on_nothing_beyond_what_it_sees():
    result = next(reach_training.train(Config(n=32, k=3, layers=4, steps=1)))
    norms = result.reach["conv"].at_start[::-1]  # by distance
    assert (norms[: 1 + 4 * 2] > 0).all()
    assert not norms[1 + 4 * 2 :].any()
    assert (result.reach["dilated"].at_start > 0).all()


def test_training_is_the_same_for_the_same_seed_and_partial_results_are_its_beginning():
    results = list(reach_training.train(SMALL))
    assert [result.done for result in results] == [0, 20, 25]
    assert results[-1].complete
    assert results[-1].reach["lstm"].loss[0] == pytest.approx(np.log(reach_training.LABELS), abs=0.5), "guessing"
    again = reach_training.run(SMALL)
    for kind in reach_training.KINDS:
        one, other = results[-1].reach[kind], again.reach[kind]
        assert np.array_equal(one.loss, other.loss)
        assert np.array_equal(one.now, other.now)
        assert np.array_equal(results[1].reach[kind].loss, one.loss[:20])
        assert np.array_equal(results[0].reach[kind].at_start, one.at_start)
    elsewhere = next(reach_training.train(replace(SMALL, seed=1)))
    assert not np.array_equal(elsewhere.reach["attention"].now, results[0].reach["attention"].now)


@pytest.mark.slow
def test_what_each_kind_sees_decides_whether_it_learns():
    result = reach_training.run(Config(n=8, d=16, steps=150, layers=2, k=3))
    assert result.reach["attention"].end_accuracy > 0.95
    assert result.reach["dilated"].end_accuracy > 0.95
    assert result.reach["conv"].end_accuracy < 0.35, "two convolutions of 3 see 5 tokens of 8"
    wide = reach_training.run(Config(n=5, d=16, steps=150, layers=2, k=3))
    assert wide.reach["conv"].end_accuracy > 0.9, "and all 5 of 5"


@pytest.mark.slow
def test_what_is_shipped_is_what_the_first_steps_give():
    shipped = reach_training.load_stored_result()
    assert shipped.config == Config()
    assert shipped.complete
    made = reach_training.train(Config())
    next(made)
    first = next(made)
    for kind, reached in shipped.reach.items():
        assert first.reach[kind].at_start == pytest.approx(reached.at_start, rel=1e-2, abs=1e-12), kind
        assert first.reach[kind].loss[:5] == pytest.approx(reached.loss[:5], abs=1e-2), kind
