"""Self-attention over the patches of a small video: a digit that moves, q and k normalised, turned in three axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attnviz.base.limits import require_between
from attnviz.core.costs import QKNorm
from attnviz.core.heads import HeadLayout
from attnviz.core.modules import Attention
from attnviz.core.positions import Position
from attnviz.core.rope import AxialRoPE, grid_positions
from attnviz.models.pictures import held_out, pixels_of_patches

SIDE = 2  #: pixels along the side of a patch
FRAMES, ROWS, COLUMNS = 4, 4, 7  #: patches; the digit is 4 wide and moves on by one in each frame
HEADS, D_HEAD = 2, 24
NORM_EPS = 1e-6


@dataclass(frozen=True)
class Config:
    digit: int = 7
    at: tuple[int, int, int] = (1, 1, 3)  #: frame, row and column of the patch that looks
    head: int = 0
    turned: bool = True  #: RoPE over time, height and width
    normed: bool = True  #: RMSNorm of each head's q and k
    seed: int = 0

    @property
    def query(self) -> int:
        """The place of the patch that looks among all patches."""
        frame, row, column = self.at
        return (frame * ROWS + row) * COLUMNS + column


@dataclass(frozen=True, eq=False)
class Result:
    config: Config
    video: np.ndarray  #: (frames, height, width): counts from 0 to 16
    weights: np.ndarray  #: (H, P, P), P patches frame by frame and row by row
    matrices: dict[str, np.ndarray]  #: W_QK, which makes both q and k, W_V and W_O, as in x @ W
    output: np.ndarray  #: (P, M)
    twins: tuple[int, ...]  #: other patches with exactly the query's pixels

    @property
    def query(self) -> int:
        return self.config.query

    @property
    def row(self) -> np.ndarray:
        """What the query's patch gives to each patch, (frames, rows, columns)."""
        found: np.ndarray = self.weights[self.config.head, self.query].reshape(FRAMES, ROWS, COLUMNS)
        return found


def run(config: Config) -> Result:
    """One pass over all patches. q and k come of one matrix, so that like finds like before anything is learned."""
    _check(config)
    video = moving(config.digit)
    cut = patches(video)
    x = torch.from_numpy(cut).float()
    layer = module(config)
    positions = grid_positions(FRAMES, ROWS, COLUMNS)
    with torch.no_grad():
        (stages,) = layer.stages(x, positions=positions)
        output = layer(x, positions=positions)
        qkv = {"W_QK": layer.qkv.q_proj, "W_V": layer.qkv.v_proj, "W_O": layer.o_proj}
    same = np.flatnonzero((cut == cut[config.query]).all(1))
    return Result(
        config,
        video,
        stages.weights.numpy(),
        {name: matrix_of(linear) for name, linear in qkv.items()},
        output.numpy(),
        tuple(int(each) for each in same if each != config.query),
    )


def matrix_of(linear: object) -> np.ndarray:
    """A linear layer's matrix as in x @ W."""
    assert isinstance(linear, torch.nn.Linear)
    found: np.ndarray = linear.weight.detach().T.numpy()
    return found


def moving(digit: int) -> np.ndarray:
    """A held-out digit that moves to the right by one patch in each frame, (frames, height, width)."""
    held = held_out()
    picture = held.pictures[held.like(digit)]
    whole = np.zeros((FRAMES, ROWS * SIDE, COLUMNS * SIDE), np.uint8)
    for frame in range(FRAMES):
        whole[frame, :, frame * SIDE : frame * SIDE + picture.shape[1]] = picture
    return whole


def patches(video: np.ndarray) -> np.ndarray:
    """The pixels of each patch, frame by frame and row by row, (P, 4)."""
    return pixels_of_patches(video, SIDE).reshape(-1, SIDE**2)


def module(config: Config) -> Attention:
    """The layer with random weights by the seed."""
    width = SIDE**2
    position: Position = AxialRoPE() if config.turned else Position()
    layout = HeadLayout(width, HEADS, HEADS, D_HEAD)
    norm: QKNorm | None = "head" if config.normed else None
    layer = Attention(layout, qk_norm=norm, norm_eps=NORM_EPS, position=position)
    generator = torch.Generator().manual_seed(config.seed)
    q, k, v, o = (layer.get_submodule(name) for name in ("qkv.q_proj", "qkv.k_proj", "qkv.v_proj", "o_proj"))
    with torch.no_grad():
        for linear in (q, v, o):
            assert isinstance(linear, torch.nn.Linear)
            linear.weight.copy_(_drawn(linear.weight, generator))
        k.load_state_dict(q.state_dict())
    return layer


def _drawn(weight: Tensor, generator: torch.Generator) -> Tensor:
    return torch.randn(weight.shape, generator=generator) / weight.shape[1] ** 0.5


def _check(config: Config) -> None:
    for value, size, axis in zip(config.at, (FRAMES, ROWS, COLUMNS), ("frame", "row", "column"), strict=True):
        require_between(axis, value, 0, size - 1)


def program(config: Config) -> str:
    """Source that prints what the query's patch gives to every patch, (frames, rows, columns)."""
    return f"""\
import torch
from attnviz.core.rope import grid_positions
from attnviz.pages.positions.maths import video_attention as video

config = video.{config!r}
x = torch.from_numpy(video.patches(video.moving(config.digit))).float()  # the pixels of each patch, frame by frame
layer = video.module(config)  # one random matrix makes q and k
with torch.no_grad():
    (stages,) = layer.stages(x, positions=grid_positions({FRAMES}, {ROWS}, {COLUMNS}))
weights = stages.weights  # H, P, P
print(weights[config.head, config.query].reshape({FRAMES}, {ROWS}, {COLUMNS}))
"""
