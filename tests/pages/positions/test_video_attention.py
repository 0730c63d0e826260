"""Self-attention over a small video's patches, against torch's own attention and rotations by complex numbers."""

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
from attnviz.pages.positions.maths import video_attention

CONFIGS = [
    video_attention.Config(),
    video_attention.Config(digit=3, at=(3, 0, 6), head=1, normed=False),
    video_attention.Config(turned=False),
    video_attention.Config(turned=False, normed=False, seed=5),
]


def turned(x, places):
    """Pairs (2i, 2i + 1) of x (H, P, 24) as complex numbers: eight numbers turn by time, height and width each."""
    parts = []
    for axis in range(3):
        part = x[..., 8 * axis : 8 * axis + 8].double()
        speed = 10_000.0 ** (-torch.arange(0, 8, 2, dtype=torch.float64) / 8)
        angle = places[:, axis, None].double() * speed
        pairs = torch.view_as_complex(part.unflatten(-1, (-1, 2)).contiguous())
        parts.append(torch.view_as_real(pairs * torch.polar(torch.ones_like(angle), angle)).flatten(-2))
    return torch.cat(parts, -1).float()


@pytest.mark.parametrize("config", CONFIGS)
def test_weights_and_output_are_those_of_another_hand(config):
    result = video_attention.run(config)
    places = torch.tensor([(f, r, c) for f in range(4) for r in range(4) for c in range(7)])
    x = torch.tensor([result.video[f, 2 * r : 2 * r + 2, 2 * c : 2 * c + 2].ravel().tolist() for f, r, c in places])
    x = x.float()
    q = (x @ torch.from_numpy(result.matrices["W_QK"])).view(112, 2, 24).transpose(0, 1)
    if config.normed:
        q = nn.RMSNorm(24, eps=1e-6)(q)
    if config.turned:
        q = turned(q, places)
    v = (x @ torch.from_numpy(result.matrices["W_V"])).view(112, 2, -1).transpose(0, 1)
    assert_close(torch.from_numpy(result.weights), (q @ q.mT / 24**0.5).softmax(-1), atol=1e-4, rtol=1e-3)
    seen = scaled_dot_product_attention(q, q, v).transpose(0, 1).flatten(1)
    expected = seen @ torch.from_numpy(result.matrices["W_O"])
    assert_close(torch.from_numpy(result.output), expected, atol=1e-3, rtol=1e-3)


def test_without_rotations_equal_pixels_get_equal_weight_and_with_them_the_own_place_gets_most():
    config = video_attention.Config()
    plain, rotated = (video_attention.run(replace(config, turned=turned)) for turned in (False, True))
    assert len(plain.twins) >= 3  # the digit moves by whole patches: each of its parts comes in every frame
    same = plain.row.ravel()[[plain.query, *plain.twins]]
    assert np.ptp(same) < 1e-6
    places = rotated.row.ravel()[[rotated.query, *rotated.twins]]
    assert places[0] == pytest.approx(places.max())
    assert np.ptp(places) > 1e-4


def test_the_digit_moves_on_by_one_patch_in_each_frame():
    video = video_attention.moving(4)
    assert video.shape == (4, 8, 14)
    for frame in range(3):
        np.testing.assert_array_equal(video[frame + 1, :, 2:], video[frame, :, :-2])


@pytest.mark.parametrize("config", CONFIGS)
def test_the_program_prints_the_row(config):
    names = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(video_attention.program(config), names)
    result = video_attention.run(config)
    assert_close(
        names["weights"][config.head, result.query], torch.from_numpy(result.row.ravel()), atol=1e-5, rtol=1e-3
    )


def test_a_patch_that_the_video_does_not_have_is_refused():
    with pytest.raises(Problem, match="row=4 must lie between 0 and 3"):
        video_attention.run(video_attention.Config(at=(0, 4, 0)))
