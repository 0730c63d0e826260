"""What is asked of whoever makes passes through models: declared data goes in, a run or a result comes back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

from attnviz.runs.heads.head_work import HeadWork
from attnviz.runs.model_run import ModelRun, Request

RerunId = Literal["what_if", "sharing", "rotation", "changed_rope", "sentence_fit"]


@dataclass(frozen=True)
class Rerun:
    """A second pass over a sentence with something changed: which lesson's, and what that lesson is told."""

    lesson: RerunId
    told: tuple[Any, ...] = ()


class Engine(HeadWork, Protocol):
    """Whoever makes passes, and looks at heads over many sentences.

    Every method may be called from any thread, and answers or raises a Problem.
    """

    @property
    def loads_here(self) -> bool:
        """Whether a pass needs its model in this process, so that a visitor is shown how it is loaded."""

    def expect(self, model: str) -> None:
        """A pass of this model may be asked for soon. Returns at once; what fails is said by the pass itself."""

    def run(self, request: Request) -> ModelRun:
        """One pass of a model over a sentence."""

    def rerun(self, run: ModelRun, change: Rerun) -> Any:
        """The same sentence once more with something changed; what the lesson answers."""
