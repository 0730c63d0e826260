"""Each way of scaling against its formula, and against the way that it equals at some value of its parameter."""

import math

import pytest
import torch
from torch.testing import assert_close

from attnviz.pages.scaling.maths.alternatives import (
    ALTERNATIVES,
    stages,
)

D, N = 32, 9


@pytest.fixture
def qkv():
    g = torch.Generator().manual_seed(3)
    return [
        torch.randn(2, length, width, generator=g, dtype=torch.float64) for length, width in ((5, D), (N, D), (N, 4))
    ]


def by_formula(name, q, k, p):
    dot = q @ k.mT
    scaled = dot / math.sqrt(D)
    logits = {
        "raw": dot,
        "sqrt": scaled,
        "temperature": scaled / p,
        "inverse": p * dot / D,
        "qk-norm": p * dot / (q.norm(dim=-1)[..., :, None] * k.norm(dim=-1)[..., None, :]),
        "softcap": p * torch.tanh(scaled / p),
        "log-n": scaled * math.log(N) / math.log(p),
    }
    if name == "sink":
        e = scaled.exp()
        return e / (e.sum(-1, keepdim=True) + math.exp(p))
    return logits[name].softmax(-1)


@pytest.mark.parametrize("name", ALTERNATIVES)
@pytest.mark.parametrize("p", [2.0, 5.0])
def test_weights_follow_the_formula(qkv, name, p):
    q, k, v = qkv
    made = stages(q, k, v, name, p)
    assert_close(made.weights, by_formula(name, q, k, p))
    assert_close(made.output, by_formula(name, q, k, p) @ v)
