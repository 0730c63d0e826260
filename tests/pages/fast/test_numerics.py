"""Rounding of an online softmax, by NumPy's own 16-bit numbers, and the section in use."""

import numpy as np
import pytest
import torch

from attnviz.pages.fast.maths import numerics
from tests.pages.conftest import charts, read, sound


def drawn(config):
    generator = torch.Generator().manual_seed(config.seed)
    n = numerics.LENGTHS[-1]
    scores = config.size * torch.randn(numerics.ROWS, n, generator=generator, dtype=torch.float64)
    values = torch.randn(n, numerics.WIDTH, generator=generator).bfloat16().double()
    return scores.numpy(), values.numpy()


def error(output, wanted):
    return float(np.linalg.norm(output - wanted) / np.linalg.norm(wanted))


@pytest.fixture(scope="module")
def result():
    return numerics.run(numerics.Config())


def test_float16_sums_are_those_that_numpy_keeps(result):
    scores, values = drawn(result.config)
    block = result.config.block
    for way, subtract in (("float16", True), ("float16-raw", False)):
        high = np.full(numerics.ROWS, -np.inf if subtract else 0.0, np.float32)
        total, output = np.zeros(numerics.ROWS, np.float16), np.zeros((numerics.ROWS, numerics.WIDTH), np.float16)
        for start in range(0, 1024, block):
            tile = scores[:, start : start + block].astype(np.float32)
            new = np.maximum(high, tile.max(-1)) if subtract else high
            weights = np.exp(tile - new[:, None]).astype(np.float16).astype(np.float32)
            rescale = np.exp(high - new)
            total = (total * rescale + weights.sum(-1)).astype(np.float16)
            output = (output * rescale[:, None] + weights @ values[start : start + block].astype(np.float32)).astype(
                np.float16
            )
            high = new
        exact = np.exp(scores[:, :1024])
        wanted = exact / exact.sum(-1, keepdims=True) @ values[:1024]
        made = error(output.astype(float) / total.astype(float)[:, None], wanted)
        assert result.errors[way][numerics.LENGTHS.index(1024)] == pytest.approx(made, rel=0.05)


def test_the_section_says_where_float16_ends_and_what_rescaling_does(visit, result):
    page = sound(visit("fast", fast_section="numerics"))
    assert "float16 loses a row by 2,048 keys: a sum passes 65,504, though no e^x is above" in read(page)
    off = f"{result.errors['float32'][-1]:.1e}".replace("-", "−")
    assert f"Float32 is off by {off} so" in read(page)
    lines = {line["name"]: line["y"] for line in charts(page)[0]["data"]}
    assert lines["float16, no maximum"][-1] is None
    assert len(lines) == 7
