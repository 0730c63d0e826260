"""One prompt's residual stream put into another's, layer by position: to first order at once, then exactly."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from attnviz.base.message import Problem
from attnviz.models.attribution.patching import Cell, attribution_patching, exact_patching
from attnviz.models.catalogue import LoadedModel
from attnviz.pages.why.maths.parts import Ids

MOST = 600  #: cells that are computed exactly, the largest first


@dataclass(frozen=True)
class Config:
    """Two prompts of as many tokens, and the token whose lead over the other (None: whose logit) is watched."""

    clean: str
    corrupted: str
    ids: Ids
    position: int | None = None  #: of a masked token that is predicted; None: what follows the last


@dataclass(frozen=True, eq=False)
class PatchMap:
    """What putting the clean stream into the corrupted run, at a layer and a position, gives back of the difference."""

    config: Config
    linear: np.ndarray  #: (layers, tokens): to first order, in logits
    exact: np.ndarray  #: the same computed anew; NaN where it was not
    asked: int  #: how many cells are to be computed
    before: float  #: the lead in the corrupted run
    after: float  #: in the clean one
    tokens: tuple[tuple[str, ...], tuple[str, ...]]  #: of both prompts, the clean one first

    @property
    def done(self) -> int:
        """How many cells were computed."""
        return int((~np.isnan(self.exact[self.linear != 0])).sum())

    @property
    def shares(self) -> np.ndarray:
        """(layers, tokens): the share of the difference that each cell gives back, exact where that is known."""
        return np.where(np.isnan(self.exact), self.linear, self.exact) / (self.after - self.before)

    @property
    def correlation(self) -> float | None:
        """Pearson's, of linearised and exact values; None for fewer than three cells, or where all are one number."""
        known = ~np.isnan(self.exact) & (self.linear != 0)
        pairs = np.stack([self.linear[known], self.exact[known]])
        return float(np.corrcoef(pairs)[0, 1]) if known.sum() > 2 and np.ptp(pairs, axis=1).all() else None


def run(loaded: LoadedModel, config: Config) -> Iterator[PatchMap]:
    """The linearised map, then the same with more and more cells computed anew, the largest first."""
    begun = linearised(loaded, config)
    yield begun
    order = np.argsort(-np.abs(begun.linear), axis=None)[: begun.asked]
    cells = [Cell(int(n) // begun.linear.shape[1], None, int(n) % begun.linear.shape[1]) for n in order]
    token, versus = config.ids
    exact = begun.exact.copy()
    for cell, value in exact_patching(loaded, config.clean, config.corrupted, token, cells, versus, config.position):
        exact[cell.layer, cell.position] = value
        yield replace(begun, exact=exact.copy())


def linearised(loaded: LoadedModel, config: Config) -> PatchMap:
    """Two passes and one backward. A cell that nothing can change is exactly 0."""
    made = attribution_patching(loaded, config.clean, config.corrupted, *config.ids, config.position)
    if abs(made.after - made.before) < 1e-6:
        raise Problem("Both prompts answer alike, so there is no difference to give back: change a word of the second")
    linear = made.streams.numpy()
    exact = np.where(linear == 0, 0.0, np.nan).astype(np.float32)
    return PatchMap(config, linear, exact, min(MOST, int((linear != 0).sum())), made.before, made.after, made.tokens)
