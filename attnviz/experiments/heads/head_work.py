"""What is asked of whoever looks at heads over many sentences: this process, or others that share the work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from torch import Tensor

from attnviz.experiments.heads.head_scores import HeadScores
from attnviz.models.catalogue import LoadedModel


class HeadWork(Protocol):
    """`scan`, `mean_outputs` and `cost_steps` for a list of sentences, with the same numbers whoever does it."""

    def scan(self, loaded: LoadedModel, sentences: Sequence[str], patterns: Sequence[str]) -> Iterator[HeadScores]:
        """The scores of all heads so far, after some sentences and at the end after all of them."""

    def mean_outputs(self, loaded: LoadedModel, sentences: Sequence[str]) -> dict[str, Tensor]:
        """What each head hands on on average over these sentences."""

    def cost_steps(
        self, loaded: LoadedModel, sentences: Sequence[str], means: Mapping[str, Tensor] | None = None
    ) -> Iterator[HeadScores | None]:
        """The costs of all heads so far, after some sentences; None for a step on the way there."""
