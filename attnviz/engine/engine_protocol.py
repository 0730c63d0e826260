"""What is asked of whoever makes passes through models: declared data goes in, a run or a result comes back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

from attnviz.models.capture import Trace
from attnviz.models.catalogue import LoadedModel
from attnviz.runs import changed_rope, head_sharing, predictions, what_if
from attnviz.runs.heads.removal_costs import HeadWork
from attnviz.runs.model_run import ModelRun, Request, StackId
from attnviz.runs.what_if import WhatIf

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


# The lessons that run a model again with something changed, by their names.
def run_rerun(run: ModelRun, loaded: LoadedModel, change: Rerun) -> Any:
    """Run the model again, as the lesson does it."""
    return _LESSONS[change.lesson](run, loaded, *change.told)


def _what_if(run: ModelRun, loaded: LoadedModel, stack: StackId, layer: int, head: int, changed: WhatIf) -> Trace:
    return what_if.run_again(run, loaded, run.stack(stack), layer, head, changed)


def _rotation(_run: ModelRun, loaded: LoadedModel) -> Any:
    return changed_rope.rotation(loaded)


_LESSONS: Final[dict[RerunId, Callable[..., Any]]] = {
    "what_if": _what_if,
    "sharing": head_sharing.downstream,
    "rotation": _rotation,
    "changed_rope": changed_rope.run,
    "sentence_fit": predictions.run,
}
