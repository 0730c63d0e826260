"""What is asked of whoever looks at heads over many sentences: this process, or others that share the work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Protocol

from torch import Tensor

from attnviz.models.catalogue import LoadedModel
from attnviz.runs.heads.head_scores import HeadScores, mean_outputs
from attnviz.runs.heads.removal_costs import cost_steps
from attnviz.runs.heads.scan import scan


class HeadWork(Protocol):
    """`scan`, `cost_steps` and `mean_outputs` in steps, for a list of sentences: the same numbers whoever does it."""

    def scan(
        self, loaded: LoadedModel, sentences: Sequence[str], patterns: Sequence[str]
    ) -> Iterator[HeadScores | None]:
        """The scores of all heads so far, after some sentences and at the end after all of them; None for a step on the
        way there."""

    def mean_steps(self, loaded: LoadedModel, sentences: Sequence[str]) -> Iterator[dict[str, Tensor] | None]:
        """What each head hands on on average over these sentences, once and last; None for a step on the way there."""

    def cost_steps(
        self, loaded: LoadedModel, sentences: Sequence[str], means: Mapping[str, Tensor] | None = None
    ) -> Iterator[HeadScores | None]:
        """The costs of all heads so far, after some sentences; None for a step on the way there."""


class HeadsHere:
    """This process: a `HeadWork` by the model that it is given."""

    def scan(self, loaded: LoadedModel, sentences: Sequence[str], patterns: Sequence[str]) -> Iterator[HeadScores]:
        return scan(loaded, list(sentences), patterns)

    def mean_steps(self, loaded: LoadedModel, sentences: Sequence[str]) -> Iterator[dict[str, Tensor]]:
        yield mean_outputs(loaded, list(sentences))

    def cost_steps(
        self, loaded: LoadedModel, sentences: Sequence[str], means: Mapping[str, Tensor] | None = None
    ) -> Iterator[HeadScores | None]:
        return cost_steps(loaded, list(sentences), means)


HERE: Final = HeadsHere()
