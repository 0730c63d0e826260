"""The building page's text and picture: against torch's own attention, in the program on the page."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image
from torch.testing import assert_close

from attnviz.core.heads import HeadLayout
from attnviz.models.pictures.sources import FOLDER
from attnviz.pages.build.maths import two_sources
from tests.pages.conftest import ran

CONFIGS = [
    two_sources.Config(),
    two_sources.Config(norms="text", digit=8, factor=0.5),
    two_sources.Config(norms="none", seed=0),
    two_sources.Config(layout=HeadLayout(6, 4, 2, 3, 5), tokens=("one",), text=("a", "b"), factor=2.0),
    two_sources.Config(layout=HeadLayout(8, 1), digit=0, factor=0.0),
    two_sources.Config(photo="flower", layout=HeadLayout(8, 4, 2)),
]


@pytest.mark.parametrize("config", CONFIGS)
def test_text_and_picture_are_summed_as_by_the_program_which_needs_torch_alone(config):
    result = two_sources.run(config)
    names, _printed = ran(two_sources.program(result))
    assert_close(torch.from_numpy(result.output), names["output"], atol=1e-4, rtol=1e-4)
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
    assert both.output_change == pytest.approx(np.abs(both.output - text.output).max(), abs=1e-6)
    assert both.output_change > 0.1


def test_a_photograph_is_257_tokens_the_first_of_which_is_the_mean_of_the_others():
    made = two_sources.run(two_sources.Config(photo="temple"))
    assert made.on_picture.shape == (2, 4, 257)
    np.testing.assert_allclose(made.patches[0], made.patches[1:].mean(0), atol=1e-5)
    top_left = made.pixels[:2, :2].ravel()
    np.testing.assert_array_equal(made.patches[1], top_left)
    light = np.asarray(Image.open(FOLDER / "photographs" / "temple.jpg").convert("RGB"), float).mean(-1)
    middle = light[:, (light.shape[1] - light.shape[0]) // 2 :][:, : light.shape[0]]
    assert made.pixels.mean() / 16 == pytest.approx(middle.mean() / 255, abs=0.02)
