"""Measurements: the memory against sizes that are known, exponents against power laws, and what is shipped."""

import pytest
import torch

from attnviz.analysis import measuring
from attnviz.pages.compare.maths import compared_layers, layer_timing

pytestmark = pytest.mark.slow  # in `make check-all`


def test_attention_whose_weights_are_built_holds_them_and_fused_attention_does_not():
    n, heads, x = 512, 4, torch.randn(1, 512, 32)
    explicit, fused = compared_layers.ExplicitAttention(32, heads), compared_layers.FusedAttention(32, heads)
    with torch.inference_mode():
        weights = heads * n * n * 4
        assert weights <= measuring.peak_bytes(lambda: explicit(x)) < 3 * weights
        assert measuring.peak_bytes(lambda: fused(x)) < weights / 4


def test_in_eval_without_gradients_torchs_fast_path_builds_the_weights_as_the_page_says():
    n, heads, x = 512, 4, torch.randn(1, 512, 32)
    fused = compared_layers.FusedAttention(32, heads).eval()
    with torch.inference_mode():
        assert measuring.peak_bytes(lambda: fused(x)) >= heads * n * n * 4


def test_the_shipped_measurements_are_whole_and_say_where_they_were_made():
    shipped = layer_timing.load_prepared()
    assert set(shipped) == {(d, training) for d in layer_timing.WIDTHS for training in (False, True)}
    for result in shipped.values():
        assert result.machine.cores >= 1
        said = str(result.machine.description)
        assert f"torch {result.machine.torch}, threads: 1, float32, processor time" in said
        assert result.machine.processor in said
        assert {t.way for t in result.timings} == set(layer_timing.KINDS)
        explicit, fused = result.exponents("explicit"), result.exponents("fused")
        assert explicit[1] == pytest.approx(2, abs=0.15), "its memory grows with the square"
        assert fused[1] == pytest.approx(1, abs=0.2), "and fused attention's with the length"
        for kind in ("linear", "lstm", "gru", "conv"):
            assert result.exponents(kind)[0] == pytest.approx(1, abs=0.3), kind
        assert layer_timing.from_json(layer_timing.to_json(result)) == result
