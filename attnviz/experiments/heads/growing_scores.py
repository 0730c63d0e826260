"""Scores gathered sentence by sentence, without copying what is there for every new one."""

from __future__ import annotations

import numpy as np

from attnviz.core.message import Problem
from attnviz.experiments.heads.head_scores import HeadScores

HeadPositions = tuple[tuple[int, int], ...]


class GrowingScores:
    """Rows of scores of every head, one row a sentence. Earlier answers of `so_far` stay as they were."""

    def __init__(self) -> None:
        self._places: HeadPositions | None = None
        self._names: tuple[str, ...] = ()
        self._held: dict[str, np.ndarray] = {}  # (room for sentences, N); doubled when it is full
        self._count = 0

    @property
    def empty(self) -> bool:
        return self._places is None

    def add(self, places: HeadPositions, names: tuple[str, ...], scores: dict[str, np.ndarray]) -> None:
        """Append the rows (B, N) of each pattern or cost."""
        if self._places is not None and (places, set(scores)) != (self._places, set(self._held)):
            raise Problem("the model ran other layers for this batch than for the first one")
        self._places, self._names = places, names
        count = self._count + len(next(iter(scores.values())))
        for name, rows in scores.items():
            self._held[name] = self._with_room(self._held.get(name), count, len(places))
            self._held[name][self._count : count] = rows
        self._count = count

    def so_far(self) -> HeadScores:
        """Everything added up to now; a Problem where that is nothing."""
        if self._places is None:
            raise Problem("there is no sentence to look at")
        held = {name: rows[: self._count] for name, rows in self._held.items()}
        return HeadScores(self._places, self._names, held, self._count)

    def _with_room(self, held: np.ndarray | None, count: int, heads: int) -> np.ndarray:
        if held is not None and len(held) >= count:
            return held
        made = np.empty((max(16, 2 * count), heads))
        if held is not None:
            made[: self._count] = held[: self._count]
        return made
