"""RoPE over a video's time, height and width: how a head is split among them, and what the split leaves out."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attnviz.base.limits import require_between
from attnviz.base.message import Problem, Several
from attnviz.core.rope import AxialRoPE, RoPE, axis_widths, frequencies, grid_positions

SPLITS = ("rest", "quarter", "thirds", "own", "flat")
AXES = ("time", "height", "width")
MOST = 4096  #: patches


@dataclass(frozen=True)
class Config:
    split: str = "rest"
    d_head: int = 64
    own: tuple[int, int, int] = (22, 21, 21)  #: widths of the three parts, for the split "own"
    frames: int = 3
    height: int = 6
    width: int = 8
    at: tuple[int, int, int] = (1, 2, 3)  #: the query's patch
    base: float = 10_000.0


@dataclass(frozen=True)
class Result:
    config: Config
    asked: tuple[int, ...]  #: the width that each axis was given; one number when positions are flat
    rotated: tuple[int, ...]  #: the part of it that is rotated: whole pairs only
    wavelengths: tuple[np.ndarray, ...]  #: of each axis's pairs, in patches
    scores: np.ndarray  #: (frames, height, width) what position alone gives each patch, q.k / sqrt(D)
    shifted: float  #: the largest change of a score when all patches move by one frame, two rows and three columns
    twins: int  #: other patches that get exactly the score of the query's own

    @property
    def left(self) -> int:
        """Numbers of a head that are not rotated."""
        return self.config.d_head - sum(self.rotated)


def run(config: Config) -> Result:
    """Scores of one patch against all, from position alone: every query and key is a vector of ones."""
    _check(config)
    asked = split(config)
    rotated = tuple(width - width % 2 for width in asked)
    grid = grid_positions(config.frames, config.height, config.width)
    place = torch.tensor(config.at)
    scores = _scores(config, rotated, grid, place)
    move = torch.tensor([1, 2, 3])
    own = int((place * torch.tensor([config.height * config.width, config.width, 1])).sum())
    return Result(
        config,
        asked,
        rotated,
        tuple((2 * math.pi / frequencies(w, config.base)).numpy() if w else np.zeros(0) for w in rotated),
        scores.reshape(config.frames, config.height, config.width).numpy(),
        float((_scores(config, rotated, grid + move, place + move) - scores).abs().max()),
        int(((scores - scores[own]).abs() < 1e-9).sum()) - 1,
    )


def split(config: Config) -> tuple[int, ...]:
    """The widths that time, height and width are given; with "flat" one width for the patch's number."""
    d = config.d_head
    made: dict[str, tuple[int, ...]] = {
        "rest": axis_widths(d),
        "quarter": (d // 4, 3 * (d // 8), 3 * (d // 8)),
        "thirds": (d // 3, d // 3, d // 3),
        "own": config.own,
        "flat": (d,),
    }
    return made[config.split]


def _scores(config: Config, rotated: tuple[int, ...], grid: Tensor, place: Tensor) -> Tensor:
    """(patches,): the query at `place` (3,) against a key at each of `grid` (patches, 3)."""
    ones = torch.ones(1, len(grid), config.d_head, dtype=torch.float64)
    if config.split == "flat":
        rope: RoPE = RoPE(rotated[0], config.base, "interleaved")
        columns = torch.tensor([config.height * config.width, config.width, 1])
        keys, query = (grid * columns).sum(-1), (place * columns).sum(-1, keepdim=True)
    else:
        axes = [axis for axis, width in enumerate(rotated) if width]
        if not axes:
            return ones[0].sum(-1) / math.sqrt(config.d_head)
        rope = AxialRoPE([rotated[axis] for axis in axes], config.base)
        keys, query = grid[:, axes], place[None, axes]
    turned = rope.rotate(ones, keys)[0]
    return turned @ rope.rotate(ones[:, :1], query)[0, 0] / math.sqrt(config.d_head)


def _check(config: Config) -> None:
    if config.split not in SPLITS:
        raise Problem("{split} must be one of {allowed}", split=config.split, allowed=Several(SPLITS))
    if config.frames * config.height * config.width > MOST:
        raise Problem(
            "{frames} × {height} × {width} patches are more than {most:,}",
            frames=config.frames,
            height=config.height,
            width=config.width,
            most=MOST,
        )
    if config.d_head < 2 or config.d_head % 2:
        raise Problem("d_head={d_head} must be even and at least 2", d_head=config.d_head)
    if sum(split(config)) > config.d_head:
        raise Problem(
            "The three parts need {parts} = {sum} numbers, and the head has {d_head}: make one of them smaller.",
            parts=" + ".join(map(str, split(config))),
            sum=sum(split(config)),
            d_head=config.d_head,
        )
    for at, size, axis in zip(config.at, (config.frames, config.height, config.width), AXES, strict=True):
        require_between(axis, at, 0, size - 1)
