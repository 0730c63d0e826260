"""A mask from presets and paint: its effect on the attention of one sentence, and its tiles over 4,096 words."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attnviz.analysis.word_vectors import WIDTH, sentence
from attnviz.core.attention import attend
from attnviz.core.measures import total_variation
from attnviz.pages.masks.maths.mask_rules import Rule, combine_rules, combine_strips

MOST_LAYERS = 12
ALIKE = 0.01  #: two weights as near as this are alike
SCALE = WIDTH**-0.5  #: what scores are multiplied by


@dataclass(frozen=True)
class Painted:
    """Cells that a visitor set by hand, on top of the rules: flat indices q * T + k into a grid of `size` words."""

    size: int = 0
    on: tuple[int, ...] = ()
    off: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.on) + len(self.off)

    def cells(self, length: int) -> list[tuple[int, int, bool]]:
        """(query, key, may attend) of the painted cells that exist in a sentence of `length` words."""
        marked = [
            (*divmod(flat, self.size), value) for flats, value in ((self.on, True), (self.off, False)) for flat in flats
        ]
        return sorted(cell for cell in marked if max(cell[:2]) < length)

    def apply_to(self, mask: Tensor) -> Tensor:
        """`mask` with the painted cells set."""
        painted = mask.clone()
        for q, k, value in self.cells(len(mask)):
            painted[q, k] = value
        return painted


def find_paint(base: np.ndarray, wanted: np.ndarray) -> Painted:
    """Painted cells that turn `base` into `wanted`, both boolean (T, T)."""
    on, off = np.flatnonzero(wanted & ~base), np.flatnonzero(base & ~wanted)
    return Painted(len(base), tuple(map(int, on)), tuple(map(int, off)))


@dataclass(frozen=True)
class Config:
    """The words with their random vectors, and the mask: rules, then paint."""

    tokens: tuple[str, ...]
    seed: int = 0
    rules: tuple[Rule, ...] = (Rule("causal"),)
    paint: Painted = Painted()


@dataclass(frozen=True)
class Result:
    """`mask` (T, T) boolean, `rules_alone` without paint; `scores` (T, T) raw; weights `before` and `after` masking.

    The mask keeps `pairs` of `square` pairs; `empty` lists the queries that may attend to nothing.
    `hops` (T, T): number of layers until key k has reached query q; 0 = itself, -1 = never within MOST_LAYERS. The
    residual stream carries what a word has received on to the next layer.
    `moved_weight` (T,): share of each row's weight that masking moves to other keys.
    """

    tokens: tuple[str, ...]
    mask: np.ndarray
    rules_alone: np.ndarray
    scores: np.ndarray
    before: np.ndarray
    after: np.ndarray
    hops: np.ndarray
    empty: tuple[int, ...]

    @property
    def pairs(self) -> int:
        return int(self.mask.sum())

    @property
    def square(self) -> int:
        return self.mask.size

    @property
    def moved_weight(self) -> np.ndarray:
        return total_variation(torch.from_numpy(self.before), torch.from_numpy(self.after)).numpy()

    @property
    def telling_row(self) -> int:
        """The word whose weight the mask moves most, of those that it leaves three keys or more; the last, if none."""
        moved = np.where(self.mask.sum(-1) > 2, self.moved_weight, 0)
        return int(moved.argmax()) if moved.any() else len(self.tokens) - 1


def run(config: Config) -> Result:
    """Compute the mask, and attention with and without it on random vectors."""
    s = sentence(config.tokens, config.seed)
    rules_mask = combine_rules(config.rules, len(s))
    mask = config.paint.apply_to(rules_mask)
    q, k, v = (t.unsqueeze(0) for t in (s.q, s.k, s.v))  # (H=1, T, D)
    before, after = attend(q, k, v), attend(q, k, v, mask=mask)
    return Result(
        config.tokens,
        mask.numpy(),
        rules_mask.numpy(),
        before.scores[0].numpy(),
        before.weights[0].numpy(),
        after.weights[0].numpy(),
        hops(mask).numpy(),
        tuple(after.empty_rows[0].nonzero().flatten().tolist()),
    )


def close_cell(result: Result, query: int, key: int) -> np.ndarray:
    """Weights of a row with one cell open, and with it closed, (2, T); zeros where nothing is open."""
    allowed = torch.from_numpy(result.mask[query]).repeat(2, 1)
    allowed[:, key] = torch.tensor([True, False])
    scores = torch.from_numpy(result.scores[query]).double() * SCALE
    return scores.masked_fill(~allowed, -torch.inf).softmax(-1).nan_to_num().numpy()


def find_fate(weights: np.ndarray) -> str | None:
    """What becomes of the weight of a cell that is closed: "lost" where nothing else is open, else "share".

    Others get it in proportion to what they have; None where they have alike: in proportion is then alike. `weights`
    (2, T) are those of `close_cell`.
    """
    left = weights[1][weights[1] > 0]
    if not len(left):
        return "lost"
    return "share" if np.ptp(left) > ALIKE else None


def hops(mask: Tensor, most: int = MOST_LAYERS) -> Tensor:
    """Number of layers until key k has reached query q, (T, T): 0 on the diagonal, -1 if never within `most`."""
    length = len(mask)
    step = (mask | torch.eye(length, dtype=torch.bool)).float()  # the residual stream keeps what was there
    reach = torch.eye(length)
    out = torch.where(reach.bool(), 0, -1)
    for layer in range(1, most + 1):
        reach = ((step @ reach) > 0).float()
        out = out.where((reach == 0) | (out >= 0), layer)
    return out


# The rules over 4,096 words: some rows of the matrix at a time, of which counts are kept.
LENGTH = 4096
TILE = 64  #: words along each side of the square that one dot of the picture stands for
FLEX_BLOCK = 128  #: words along each side of a block that FlexAttention skips or computes as a whole


@dataclass(frozen=True)
class TiledMask:
    """`density` (tiles, tiles): share of each tile's pairs that is kept, 0 to 1; `pairs`: how many are kept in all.

    `blocks` counts FlexAttention's blocks: (empty, partial, full). `by_lot`: some keys are drawn at random.
    """

    length: int
    density: np.ndarray
    pairs: int
    blocks: tuple[int, int, int]
    by_lot: bool

    @property
    def square(self) -> int:
        """All pairs, and the bytes that the whole boolean matrix would take; it is never made."""
        return self.length**2


def count_in_tiles(rules: Sequence[Rule], length: int = LENGTH, tile: int = TILE) -> TiledMask:
    """Count the pairs that `rules` keep of `length` words, tile by tile."""
    strips = combine_strips(rules, length, tile)
    columns = torch.cat([strip.unflatten(1, (-1, tile)).sum(2) for strip in strips])  # of each word, (T, tiles)
    counts = columns.unflatten(0, (-1, tile)).sum(1)  # (tiles, tiles)
    tiles_per_block = FLEX_BLOCK // tile
    blocks = counts.unflatten(1, (-1, tiles_per_block)).unflatten(0, (-1, tiles_per_block)).sum((1, 3))
    full, empty = int((blocks == FLEX_BLOCK**2).sum()), int((blocks == 0).sum())
    return TiledMask(
        length,
        (counts / tile**2).numpy(),
        int(counts.sum()),
        (empty, blocks.numel() - full - empty, full),
        any(rule.kind == "random" for rule in rules),
    )
