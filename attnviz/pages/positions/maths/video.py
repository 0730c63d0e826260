"""RoPE over a video's time, height and width: the split of a head, and self-attention with it."""

import inspect
import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from attnviz.base.message import Problem, require_between, require_one_of
from attnviz.core.costs import QKNorm
from attnviz.core.heads import HeadLayout
from attnviz.core.modules import Attention
from attnviz.core.positions import Position
from attnviz.core.rope import AxialRoPE, RoPE, axis_widths, frequencies, grid_positions
from attnviz.models.pictures import held_out_digits, split_into_patches

SPLITS = ("rest", "quarter", "thirds", "own", "flat")
AXES = ("time", "height", "width")
NORMS = ("head", "full")
MOST = 4096  #: patches


@dataclass(frozen=True)
class SplitConfig:
    """How a head is split, the size of the video and the query's patch."""

    split: str = "rest"
    d_head: int = 64
    own_widths: tuple[int, ...] = (22, 21, 21)  #: widths of the three parts, for the split "own"
    sizes: tuple[int, ...] = (3, 6, 8)  #: frames, rows and columns of patches
    at: tuple[int, ...] = (1, 2, 3)  #: the query's patch
    base: float = 10_000.0

    @property
    def strides(self) -> tuple[int, int, int]:
        """By how much a patch's number grows with each step along each axis."""
        _frames, height, width = self.sizes
        return height * width, width, 1


@dataclass(frozen=True)
class Split:
    """The rotated widths of a split, and the scores of one patch."""

    config: SplitConfig
    rotated_widths: tuple[int, ...]  #: of the width of each axis the part that is rotated: whole pairs only
    wavelengths: tuple[np.ndarray, ...]  #: of each axis's pairs, in patches
    scores: np.ndarray  #: (frames, height, width) what position alone gives each patch, q.k / sqrt(D)
    shift_change: float  #: the largest change of a score when all patches move by one frame, two rows and three columns
    twins: int  #: other patches that get exactly the score of the query's own

    @property
    def unrotated(self) -> int:
        """Numbers of a head that are not rotated."""
        return self.config.d_head - sum(self.rotated_widths)


def split(config: SplitConfig) -> Split:
    """Scores of one patch against all, from position alone: queries and keys are vectors of ones."""
    _check_split(config)
    rotated = tuple(width - width % 2 for width in widths(config))
    grid, query, step = grid_positions(*config.sizes), torch.tensor(config.at), torch.tensor([1, 2, 3])
    scores = split_scores(config, rotated, grid, query).reshape(config.sizes)
    shifted = split_scores(config, rotated, grid + step, query + step).reshape(config.sizes)
    return Split(
        config,
        rotated,
        tuple((2 * math.pi / frequencies(w, config.base)).numpy() if w else np.zeros(0) for w in rotated),
        scores.numpy(),
        float((shifted - scores).abs().max()),
        int(((scores - scores[config.at]).abs() < 1e-9).sum()) - 1,
    )


def widths(config: SplitConfig) -> tuple[int, ...]:
    """Widths for time, height and width; for "flat" one width for the patch's number."""
    d = config.d_head
    return {
        "rest": axis_widths(d),
        "quarter": (d // 4, 3 * (d // 8), 3 * (d // 8)),
        "thirds": (d // 3, d // 3, d // 3),
        "own": config.own_widths,
        "flat": (d,),
    }[config.split]


def split_scores(config: SplitConfig, rotated: tuple[int, ...], grid: Tensor, query_position: Tensor) -> Tensor:
    """Scores (patches,) of the query at `query_position` (3,) against a key at each of `grid` (patches, 3)."""
    ones = torch.ones(1, len(grid), config.d_head, dtype=torch.float64)
    axes = [axis for axis, width in enumerate(rotated) if width]
    if config.split == "flat":  # one number for each patch
        rope = RoPE(rotated[0], config.base, "interleaved")
        strides = torch.tensor(config.strides)
        keys, query = (grid * strides).sum(-1), (query_position * strides).sum(-1, keepdim=True)
    elif axes:
        rope = AxialRoPE([rotated[axis] for axis in axes], config.base)
        keys, query = grid[:, axes], query_position[None, axes]
    else:
        return ones[0].sum(-1) / config.d_head**0.5
    return rope.rotate(ones, keys)[0] @ rope.rotate(ones[:, :1], query)[0, 0] / config.d_head**0.5


def _check_split(config: SplitConfig) -> None:
    require_one_of("split", config.split, SPLITS)
    if math.prod(config.sizes) > MOST:
        frames, height, width = config.sizes
        raise Problem(
            "{frames} × {height} × {width} patches are more than {most:,}",
            frames=frames,
            height=height,
            width=width,
            most=MOST,
        )
    if config.d_head < 2 or config.d_head % 2:
        raise Problem("d_head={d_head} must be even and at least 2", d_head=config.d_head)
    if sum(widths(config)) > config.d_head:
        raise Problem(
            "The three parts need {parts} = {sum} numbers, and the head has {d_head}: make one of them smaller.",
            parts=" + ".join(map(str, widths(config))),
            sum=sum(widths(config)),
            d_head=config.d_head,
        )
    for at, size, axis in zip(config.at, config.sizes, AXES, strict=True):
        require_between(axis, at, 0, size - 1)


def split_program(config: SplitConfig) -> str:
    """Program that prints the split of the head, and the scores in the query's frame."""
    return f"""\

import torch
from attnviz.core.rope import AxialRoPE, RoPE, grid_positions
from attnviz.pages.positions.maths.video import SplitConfig, widths
from torch import Tensor


{inspect.getsource(split_scores)}

config = {config!r}
rotated = tuple(width - width % 2 for width in widths(config))  # whole pairs only
left = config.d_head - sum(rotated)
print(f"rotated: {{rotated}}, left over: {{left}} of {{config.d_head}} numbers")
scores = split_scores(config, rotated, grid_positions(*config.sizes), torch.tensor(config.at)).reshape(config.sizes)
print(scores[config.at[0]].numpy().round(3))
"""


# Self-attention over the patches of a small video: a digit that moves, q and k normalised, turned in three axes.
SIDE = 2  #: pixels along the side of a patch
FRAMES, ROWS, COLUMNS = 4, 4, 7  #: patches; the digit is 4 wide and moves on by one in each frame
HEADS, D_HEAD = 2, 24


@dataclass(frozen=True)
class AttentionConfig:
    """The video, the query's patch, and how q and k are rotated and normalised."""

    digit: int = 7
    at: tuple[int, ...] = (1, 1, 3)  #: frame, row and column of the patch that looks
    head: int = 0
    rotate: bool = True  #: RoPE over time, height and width
    normalise: bool = True  #: RMSNorm of q and k
    norm: QKNorm = "head"  #: over each head, or "full": over the width of all heads together
    growth: float = 1.0  #: W_q and W_k times so much
    seed: int = 0

    @property
    def query(self) -> int:
        """The place of the patch that looks among all patches."""
        frame, row, column = self.at
        return (frame * ROWS + row) * COLUMNS + column


@dataclass(frozen=True, eq=False)
class VideoAttention:
    """Attention weights over the patches of the video."""

    config: AttentionConfig
    video: np.ndarray  #: (frames, height, width): counts from 0 to 16
    weights: np.ndarray  #: (H, P, P), P patches frame by frame and row by row
    twins: tuple[int, ...]  #: other patches with exactly the query's pixels
    lengths: tuple[float, float]  #: of the head's shortest and longest query, patches without ink left out
    largest: float  #: size of a logit of the head
    bound: float  #: no logit can be larger with the norm

    @property
    def row(self) -> np.ndarray:
        """What the query's patch gives to each patch, (frames, rows, columns)."""
        row: np.ndarray = self.weights[self.config.head, self.config.query].reshape(FRAMES, ROWS, COLUMNS)
        return row


def attention(config: AttentionConfig) -> VideoAttention:
    """Attend over all patches. q and k share one matrix, so that like finds like before training."""
    for value, size, axis in zip(config.at, (FRAMES, ROWS, COLUMNS), ("frame", "row", "column"), strict=True):
        require_between(axis, value, 0, size - 1)
    video = moving_digit(config.digit)
    cut = patches(video)
    x, layer = torch.from_numpy(cut).float(), module(config)
    with torch.no_grad():
        (stages,) = layer.stages(x, positions=grid_positions(FRAMES, ROWS, COLUMNS))
        queries = layer.q_norm(layer.qkv.queries(x[x.any(1)]))[config.head].norm(dim=-1)
    same = np.flatnonzero((cut == cut[config.query]).all(1))
    twins = tuple(int(index) for index in same if index != config.query)
    lengths = float(queries.min()), float(queries.max())
    largest = float(stages.scaled[config.head].abs().max())
    # a query's length is at most √D, or √(H D) where one head may take all of the length of the whole
    bound = D_HEAD**0.5 * (HEADS if config.norm == "full" else 1)
    return VideoAttention(config, video, stages.weights.numpy(), twins, lengths, largest, bound)


def moving_digit(digit: int) -> np.ndarray:
    """A held-out digit that moves to the right by one patch in each frame, (frames, height, width)."""
    digits = held_out_digits()
    picture = digits.pictures[digits.like(digit)]
    video = np.zeros((FRAMES, ROWS * SIDE, COLUMNS * SIDE), np.uint8)
    for frame in range(FRAMES):
        video[frame, :, frame * SIDE : frame * SIDE + picture.shape[1]] = picture
    return video


def patches(video: np.ndarray) -> np.ndarray:
    """The pixels of each patch, frame by frame and row by row, (P, 4)."""
    return split_into_patches(video, SIDE).reshape(-1, SIDE**2)


def module(config: AttentionConfig) -> Attention:
    """The layer with random weights by the seed."""
    layer = Attention(
        HeadLayout(SIDE**2, HEADS, HEADS, D_HEAD),
        qk_norm=config.norm if config.normalise else None,
        position=AxialRoPE() if config.rotate else Position(),
    )
    generator = torch.Generator().manual_seed(config.seed)
    q, k, v, o = (layer.get_submodule(name) for name in ("qkv.q_proj", "qkv.k_proj", "qkv.v_proj", "o_proj"))
    for linear, factor in ((q, config.growth), (v, 1.0), (o, 1.0)):
        assert isinstance(linear, nn.Linear)
        size = factor / linear.in_features**0.5
        linear.weight = nn.Parameter(torch.randn(linear.weight.shape, generator=generator) * size)
    k.load_state_dict(q.state_dict())
    return layer


def attention_program(config: AttentionConfig) -> str:
    """Program that prints the weights of the query's patch, (frames, rows, columns)."""
    return f"""\
import torch
from attnviz.core.rope import grid_positions
from attnviz.pages.positions.maths import video

config = video.{config!r}
x = torch.from_numpy(video.patches(video.moving_digit(config.digit))).float()  # pixels, frame by frame
layer = video.module(config)  # one random matrix makes q and k
with torch.no_grad():
    (stages,) = layer.stages(x, positions=grid_positions({FRAMES}, {ROWS}, {COLUMNS}))
weights = stages.weights  # H, P, P
print(weights[config.head, config.query].reshape({FRAMES}, {ROWS}, {COLUMNS}))
"""
