"""RoPE over a video: the split of a head, and attention over patches, against complex numbers and torch's own."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention
from torch.testing import assert_close

from attnviz.pages.positions.maths import video
from attnviz.pages.positions.maths.video import AttentionConfig, SplitConfig, attention, split


def by_hand(config, rotated):
    """Scores of the query's patch by e^{i theta distance}, axis by axis; what is not rotated adds 1 a number."""
    grid = np.stack(np.meshgrid(*map(np.arange, config.sizes), indexing="ij"), -1)
    score = np.full(grid.shape[:3], float(config.d_head - sum(rotated)))
    for axis, width in enumerate(rotated):
        for i in range(width // 2):
            angle = (grid[..., axis] - config.at[axis]) * config.base ** (-2 * i / width)
            score += ((1 + 1j) * np.conj(1 + 1j) * np.exp(1j * angle)).real
    return score / math.sqrt(config.d_head)


@pytest.mark.parametrize(
    "config, rotated, left",
    [
        (SplitConfig("rest"), (24, 20, 20), 0),
        (SplitConfig("quarter"), (16, 24, 24), 0),
        (SplitConfig("thirds"), (20, 20, 20), 4),
        (SplitConfig("own", 64, (0, 31, 2)), (0, 30, 2), 32),
        (SplitConfig("own", 64, (1, 1, 0)), (0, 0, 0), 64),
    ],
)
def test_only_whole_pairs_are_rotated_and_the_rest_carries_no_position(config, rotated, left):
    result = split(config)
    assert (result.rotated_widths, result.unrotated) == (rotated, left)
    assert result.scores == pytest.approx(by_hand(config, rotated), abs=1e-12)
    assert result.shift_change < 1e-12
    assert result.scores[config.at] == pytest.approx(math.sqrt(config.d_head))


CONFIGS = [
    AttentionConfig(),
    AttentionConfig(digit=3, at=(3, 0, 6), head=1, normalise=False),
    AttentionConfig(digit=5, head=1, norm="full"),
    AttentionConfig(rotate=False, normalise=False, seed=5, growth=0.25),
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
    result, layer = attention(config), video.module(config)
    w_qk, w_v = (layer.get_submodule(name).weight.detach().T for name in ("qkv.k_proj", "qkv.v_proj"))
    places = torch.tensor([(f, r, c) for f in range(4) for r in range(4) for c in range(7)])
    x = torch.tensor([result.video[f, 2 * r : 2 * r + 2, 2 * c : 2 * c + 2].ravel().tolist() for f, r, c in places])
    x = x.float()
    q = x @ w_qk
    if config.normalise and config.norm == "full":
        q = nn.RMSNorm(48, eps=1e-6)(q)
    q = q.view(112, 2, 24).transpose(0, 1)
    if config.normalise and config.norm == "head":
        q = nn.RMSNorm(24, eps=1e-6)(q)
    lengths = q[config.head, x.any(1)].norm(dim=-1)
    assert_close(torch.tensor(result.lengths), torch.stack(lengths.aminmax()), atol=1e-4, rtol=1e-4)
    if config.rotate:
        q = turned(q, places)
    logits = (q @ q.mT / 24**0.5)[config.head]
    assert result.largest == pytest.approx(float(logits.detach().abs().max()), rel=1e-4)
    v = (x @ w_v).view(112, 2, -1).transpose(0, 1)
    assert_close(torch.from_numpy(result.weights), (q @ q.mT / 24**0.5).softmax(-1), atol=1e-4, rtol=1e-3)
    expected = layer.o_proj(scaled_dot_product_attention(q, q, v).transpose(0, 1).flatten(1))
    output = layer(x, positions=places)
    assert_close(output, expected, atol=1e-3, rtol=1e-3)


def test_without_rotations_equal_pixels_get_equal_weight_and_with_them_the_own_place_gets_most():
    config = AttentionConfig()
    plain, rotated = (attention(replace(config, rotate=rotate)) for rotate in (False, True))
    assert len(plain.twins) >= 3  # the digit moves by whole patches: each of its parts comes in every frame
    same = plain.row.ravel()[[config.query, *plain.twins]]
    assert np.ptp(same) < 1e-6
    places = rotated.row.ravel()[[config.query, *rotated.twins]]
    assert places[0] == pytest.approx(places.max())
    assert np.ptp(places) > 1e-4
