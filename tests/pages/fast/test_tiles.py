"""The film of tiles: its numbers by brute force in float64, its bytes by counting loads, and the section in use."""

import math

import numpy as np
import pytest
import torch

from attnviz.base import units
from attnviz.core import traffic
from attnviz.core.heads import HeadLayout
from attnviz.pages.fast.maths import tiles
from attnviz.pages.fast.panels import tiles as panel
from tests.svg_reading import texts, tree

CASES = [
    tiles.Config(tokens=50, width=8),
    tiles.Config(tokens=50, width=8, block_q=32, mask="none"),
    tiles.Config(tokens=70, width=8, block_k=32, mask="window", window=9, seed=3),
]


def given(config: tiles.Config) -> list[np.ndarray]:
    generator = torch.Generator().manual_seed(config.seed)
    shape = (1, config.tokens, config.width)
    return [torch.randn(shape, generator=generator)[0].double().numpy() for _ in range(4)]


def allowed(config: tiles.Config) -> np.ndarray:
    n = config.tokens
    back = np.arange(n)[:, None] - np.arange(n)
    return {"causal": back >= 0, "none": back > -n, "window": (back >= 0) & (back < config.window)}[config.mask]


@pytest.mark.parametrize("config", CASES)
def test_each_row_keeps_the_largest_score_and_the_sum_of_what_it_has_seen(config):
    q, k, _v, _d = given(config)
    scores = np.where(allowed(config), q @ k.T / math.sqrt(config.width), -np.inf)
    film = tiles.run(config)
    np.testing.assert_allclose(film.cells, np.where(allowed(config), scores, np.nan), atol=1e-5)
    for row, col in film.tiles:
        end = (col + 1) * config.block_k
        for line in range(row * config.block_q, min((row + 1) * config.block_q, config.tokens)):
            seen = scores[line, :end]
            assert film.line_stats[0, col, line] == pytest.approx(seen.max(), abs=1e-5)
            total = np.exp(seen - seen.max()).sum() if np.isfinite(seen.max()) else 0.0
            assert film.line_stats[1, col, line] == pytest.approx(total, rel=1e-5)
    wanted = {
        (row // config.block_q, col // config.block_k) for row, col in zip(*np.nonzero(allowed(config)), strict=True)
    }
    assert [tuple(tile) for tile in film.tiles] == sorted(wanted), "row by row, and no tile without a pair"
    assert 0 <= film.difference < 1e-6
    assert film.other_block != config.block_k
    assert 0 <= film.other_difference < 1e-6


@pytest.mark.parametrize("config", [tiles.replace(config, backward=True) for config in CASES])
def test_the_backward_film_ends_at_torchs_gradients(config):
    q, k, v, d_output = (torch.from_numpy(each).requires_grad_() for each in given(config))
    scaled = (q @ k.T / math.sqrt(config.width)).masked_fill(~torch.from_numpy(allowed(config)), -torch.inf)
    scaled.retain_grad()
    (scaled.softmax(-1) @ v).backward(d_output.detach())
    film = tiles.run(config)
    shown = np.where(allowed(config), scaled.grad.numpy(), np.nan)
    np.testing.assert_allclose(film.cells, shown, atol=1e-5)
    np.testing.assert_allclose(film.line_stats[0, -1], v.grad.norm(dim=-1), rtol=1e-4)
    np.testing.assert_allclose(film.line_stats[1, -1], k.grad.norm(dim=-1), rtol=1e-4, atol=1e-6)
    assert film.difference < 1e-5
    columns = [tuple(tile)[::-1] for tile in film.tiles]
    assert columns == sorted(columns), "key by key"


@pytest.mark.parametrize("backward", [False, True])
def test_bytes_are_those_of_a_memory_that_counts_every_load(backward):
    config = tiles.Config(tokens=40, width=8, backward=backward)
    film, fast, read, written = tiles.run(config), {}, 0, 0
    size = {"q": config.block_q, "k": config.block_k}
    d, rows = config.width, {"Q": "q", "dO": "q", "dQ": "q", "O": "q", "K": "k", "V": "k", "dK": "k", "dV": "k"}

    def tall(name, block):
        return min(size[rows[name]], config.tokens - block * size[rows[name]])

    if backward:  # D is made once of O and dO
        read, written = 2 * config.tokens * d, config.tokens
    for at, (row, col) in enumerate(film.tiles):
        for name, block in (("Q", row), ("K", col), ("V", col)):
            if fast.get(name) != block or (not backward and name != "Q") or (backward and name == "Q"):
                read += tall(name, block) * d
                fast[name] = block
        nxt = film.tiles[at + 1] if at + 1 < len(film.tiles) else (-1, -1)
        if backward:
            read += tall("Q", row) * (2 * d + 2)  # dO and dQ, L and D
            written += tall("Q", row) * d
            written += 2 * tall("K", col) * d * (nxt[1] != col)
        elif nxt[0] != row:
            written += tall("Q", row) * (d + 1)
        assert film.bytes_moved[at].tolist() == [4 * read, 4 * written]
    queries, keys = config.blocks
    hand = (
        4 * keys * d + 3 * queries * d + 2 * queries * keys + 2 * queries
        if backward
        else 2 * keys * d + 2 * queries * d + queries * keys + 2 * queries
    )
    assert f"Fast memory: {units.binary(4 * hand)}" in texts(tree(panel.tile_figure(film, 0)))


@pytest.mark.parametrize("backward", [False, True])
def test_the_naive_way_loads_and_stores_each_operand_of_its_steps(backward):
    """By another hand: of each product or softmax the operands are loaded once, and the result is stored."""
    n, d = 96, 64
    sizes = dict.fromkeys(("S", "P", "dP", "dS"), n * n)
    if backward:
        steps = [("P dO", "dV"), ("dO V", "dP"), ("P dP", "dS"), ("dS K", "dQ"), ("dS Q", "dK")]
    else:
        steps = [("Q K", "S"), ("S", "P"), ("P V", "O")]
    wanted = [
        (name, name == result, 4 * sizes.get(name, n * d))
        for operands, result in steps
        for name in (*operands.split(), result)
    ]
    film = tiles.run(tiles.Config(backward=backward))
    assert sorted(film.naive_bytes) == sorted(wanted)
    if not backward:
        whole = traffic.bytes_of_whole_matrix(HeadLayout(d, 1, 1, d), n, "float32").total
        assert sum(size for _name, _written, size in film.naive_bytes) == whole, "as What it costs counts it"


@pytest.mark.parametrize("tokens, backward, right", [(96, False, "queries"), (96, True, "keys"), (16, False, "alike")])
def test_which_larger_tiles_save_bytes_is_what_loads_without_a_mask_add_up_to(tokens, backward, right):
    config, d = tiles.Config(tokens, 8, mask="none", backward=backward), 8
    expected = []
    for block_q, block_k in ((16, 16), (32, 16), (16, 32)):
        if backward:  # D is made of O and dO; K and V and their gradients once; the rest for each block of keys
            again = -(-tokens // block_k) * tokens * (4 * d + 2)
            expected.append(4 * (2 * tokens * d + tokens + 4 * tokens * d + again))
        else:  # Q and O once, and the log of its sum; K and V for each block of queries
            expected.append(4 * (2 * tokens * d + tokens + -(-tokens // block_q) * 2 * tokens * d))
    assert panel.compare_doubled(config) == (right, expected)
