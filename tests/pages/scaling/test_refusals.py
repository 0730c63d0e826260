"""What cannot be drawn, trained or read is refused in a sentence that names it."""

import math

import numpy as np
import pytest
import torch

from attnviz.base.message import Problem
from attnviz.pages.scaling.maths import alternatives, retrieval_training, saturation, softmax, variance


def pair(distribution, strength):
    return variance.pair(distribution, strength, (2, 2), torch.Generator())


def train(**config):
    return next(retrieval_training.train(retrieval_training.Config(**config)))


@pytest.mark.parametrize(
    "refuse, sentence",
    [
        (lambda: alternatives.check("cube", 1.0), "alternative=cube must be one of raw, sqrt"),
        (lambda: alternatives.check("softcap", 0.0), "softcap: c=0.0 must lie between 0.1 and 100.0"),
        (lambda: alternatives.check("temperature", -1.0), "temperature: T=-1.0 must lie between 0.0 and 100.0"),
        (lambda: train(steps=0), "steps=0 must lie between 1 and 2000"),
        (lambda: train(rate=99.0), "rate=99.0 must lie between 0.0001 and 10"),
        (lambda: train(optimizer="lion"), 'optimizer=lion must be "sgd" or "adam"'),
        (lambda: saturation.run(saturation.Config(n_keys=0)), "n_keys=0 must lie between 1 and 4096"),
        (lambda: saturation.run(saturation.Config(n_keys=5000)), "n_keys=5000 must lie between 1 and 4096"),
        (lambda: saturation.run(saturation.Config(alternative="x")), "alternative=x must be one of"),
        (lambda: softmax.parse(""), "0 scores; between 1 and 4096 are needed"),
        (lambda: softmax.parse("1 " * 5000), "5000 scores; between 1 and 4096 are needed"),
        (lambda: softmax.parse("1, two"), "'two' is not a number"),
        (lambda: softmax.parse("nan"), "'nan' is too large"),
        (lambda: softmax.parse("1e99"), "'1e99' is too large"),
        (lambda: softmax.weights([1.0], -1), "temperature=-1 must be at least 0"),
        (lambda: next(softmax.online([1.0], np.eye(1), 0)), "block=0 must be at least 1"),
        (lambda: pair("cauchy", 0.0), "distribution=cauchy must be one of normal, uniform"),
        (lambda: pair("correlated", 1.5), "correlated: 1.5 must lie between -1.0 and 1.0"),
        (lambda: pair("shifted", math.nan), "shifted: nan must lie between"),
        (lambda: variance.first(variance.Config(d_k=0)), "d_k=0 must lie between 1 and 4096"),
        (lambda: variance.first(variance.Config(d_k=5000)), "d_k=5000 must lie between 1 and 4096"),
        (lambda: variance.first(variance.Config(pairs=0)), "pairs=0 must lie between 1 and 1000000"),
        (lambda: variance.first(variance.Config(4096, 300_000)), "pairs=300000 must lie between 1 and 200195"),
    ],
)
def test_what_makes_no_sense_is_named(refuse, sentence):
    with pytest.raises(Problem, match=sentence):
        refuse()
