"""The building page's text and picture: against torch's own attention, written here from the formula."""

import contextlib
import io
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention
from torch.testing import assert_close

from attnviz.base.message import Problem
from attnviz.core.heads import HeadLayout
from attnviz.pages.build.maths import two_sources

CONFIGS = [
    two_sources.Config(),
    two_sources.Config(norms="text", digit=8, factor=0.5),
    two_sources.Config(norms="none", seed=0),
    two_sources.Config(layout=HeadLayout(6, 4, 2, 3, 5), words=("one",), text=("a", "b"), factor=2.0),
    two_sources.Config(layout=HeadLayout(8, 1), digit=0, factor=0.0),
]


def by_another_hand(result):
    """The block from its formula: matrices, nn.RMSNorm, torch's attention for each source, the sum, W_O."""
    config = result.config
    layout = config.layout
    w = {name: torch.from_numpy(matrix) for name, matrix in result.weights.items()}
    x, text = map(torch.from_numpy, result.vectors)
    patches = torch.from_numpy(
        np.stack([result.pixels[r : r + 2, c : c + 2].ravel() for r in range(0, 8, 2) for c in range(0, 8, 2)])
    ).float()
    q, k, k_picture = x @ w["W_Q"], text @ w["W_K"], patches @ w["W_Kp"]
    if config.norms != "none":
        q, k = nn.RMSNorm(q.shape[-1], eps=1e-6)(q), nn.RMSNorm(k.shape[-1], eps=1e-6)(k)
    if config.norms == "both":
        k_picture = nn.RMSNorm(k_picture.shape[-1], eps=1e-6)(k_picture)
    total = torch.zeros(len(x), layout.n_heads * layout.v_width)
    for keys, values, factor in ((k, text @ w["W_V"], 1.0), (k_picture, patches @ w["W_Vp"], config.factor)):
        for head in range(layout.n_heads):
            of = head * layout.kv_heads // layout.n_heads
            one = scaled_dot_product_attention(
                q[None, None, :, head * layout.qk_width : (head + 1) * layout.qk_width],
                keys[None, None, :, of * layout.qk_width : (of + 1) * layout.qk_width],
                values[None, None, :, of * layout.v_width : (of + 1) * layout.v_width],
            )[0, 0]
            total[:, head * layout.v_width : (head + 1) * layout.v_width] += factor * one
    return total @ w["W_O"]


@pytest.mark.parametrize("config", CONFIGS)
def test_text_and_picture_are_summed_as_by_another_hand_and_as_the_program_prints(config):
    result, names = two_sources.run(config), {}
    with contextlib.redirect_stdout(io.StringIO()), torch.no_grad():
        exec(two_sources.program(result), names)
        for output in (by_another_hand(result), names["output"]):
            assert_close(torch.from_numpy(result.output), output, atol=1e-4, rtol=1e-4)
    np.testing.assert_allclose(result.on_text.sum(-1), 1, atol=1e-5)
    np.testing.assert_allclose(result.on_picture.sum(-1), 1, atol=1e-5)
    np.testing.assert_allclose(result.from_text + result.from_picture, result.output, atol=1e-4)
    assert result.fused_difference < 1e-4


def test_normed_keys_of_both_sources_are_equally_long_and_to_leave_one_norm_out_moves_the_output_so_far():
    both, text = two_sources.run(CONFIGS[0]), two_sources.run(replace(CONFIGS[0], norms="text"))
    width = np.sqrt(CONFIGS[0].layout.n_heads * CONFIGS[0].layout.qk_width)
    assert both.key_lengths[0] == pytest.approx(width, rel=1e-3)
    assert both.without_ink == sum(not patch.any() for patch in both.patches)
    inked = 1 - both.without_ink / len(both.patches)
    assert both.key_lengths[1] == pytest.approx(width * inked, rel=1e-3)  # an empty patch's key stays 0
    assert text.key_lengths[1] > 3 * text.key_lengths[0]
    assert text.on_picture.max(-1).mean() > both.on_picture.max(-1).mean()
    assert both.moved == pytest.approx(np.abs(both.output - text.output).max(), abs=1e-6)
    assert both.moved > 0.1


def test_no_text_is_refused():
    with pytest.raises(Problem, match="Words in the sentence: 0"):
        two_sources.run(two_sources.Config(text=()))
