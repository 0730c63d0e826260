"""The program that the page shows, run: it prints the page's own numbers."""

import contextlib
import io

import pytest

from attnviz.experiments.scaling import growing_width, saturation, variance
from attnviz.experiments.scaling.scaling_snippet import code

CASES = [
    (variance.Config(), growing_width.Config()),
    (variance.Config(d_k=1000, pairs=9_000, seed=3), growing_width.Config(d_k=7, n_keys=1, seed=3)),
    (
        variance.Config(d_k=5, pairs=400, distribution="heavy-tailed"),
        growing_width.Config(64, 70, 1, "sink", 0.5),
    ),
    (variance.Config(d_k=5, pairs=400, distribution="uniform"), growing_width.Config(64, 300, 1, "qk-norm", 8.0)),
    (variance.Config(d_k=5, pairs=400, distribution="rademacher"), growing_width.Config(3, 8, 1, "softcap", 2.0)),
    (
        variance.Config(d_k=5, pairs=400, distribution="correlated", strength=-0.3),
        growing_width.Config(3, 8, 1, "log-n", 64.0),
    ),
    (
        variance.Config(d_k=5, pairs=400, distribution="shifted", strength=0.7),
        growing_width.Config(3, 8, 1, "temperature", 0.0),
    ),
    (variance.Config(d_k=5, pairs=400), growing_width.Config(3, 8, 1, "inverse", 4.0)),
]


def run(spread, row):
    found = {}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code(spread, row), found)
    return found, printed.getvalue()


@pytest.mark.parametrize("spread, row", CASES)
def test_the_snippet_prints_the_pages_numbers_to_the_last_digit(spread, row):
    found, printed = run(spread, row)
    drawn, one = variance.run(spread), growing_width.run(row)
    assert found["raw_variance"] == pytest.approx(drawn.raw.variance, rel=1e-9)
    assert found["scaled_variance"] == pytest.approx(drawn.scaled.variance, rel=1e-9)
    for way, there in (("raw", one.raw), ("scaled", one.scaled), (row.alternative, one.alternative)):
        assert found["row"][way] == pytest.approx((there.largest, there.entropy, there.effective), rel=1e-6, abs=1e-7)
        name = {"scaled": "sqrt"}.get(way, way)
        bands = saturation.run(saturation.Config(row.n_keys, row.seed, name, row.parameter)).bands
        for i, d in enumerate(saturation.GRID):
            shown = [bands["largest"].middle[i], bands["entropy"].middle[i]]
            assert found["medians"][d, way] == pytest.approx(shown, rel=1e-5, abs=1e-6)
    assert f"raw {drawn.raw.variance:.4f} beside {spread.d_k}" in printed


def test_more_pairs_than_one_block_holds_are_drawn_block_by_block():
    spread = variance.Config(d_k=4096, pairs=3_200)
    found, _ = run(spread, growing_width.Config(n_keys=2))
    assert variance.per_block(spread) == 1562
    assert found["raw_variance"] == pytest.approx(variance.run(spread).raw.variance, rel=1e-9)
