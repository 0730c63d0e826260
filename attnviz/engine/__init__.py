"""Where passes through models are made: in this process, or on Ray; the same questions and the same answers.

Declared data goes in, a run or a result comes back.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from attnviz.models.catalogue import LoadedModel
from attnviz.runs.heads.removal_costs import HeadWork
from attnviz.runs.model_run import ModelRun, Request


@dataclass(frozen=True)
class Rerun:
    """A second pass over a sentence with something changed: what computes it of a run and its model, and of what else.

    A function that a module names, because another process finds it by its name.
    """

    compute: Callable[..., Any]
    given: tuple[Any, ...] = ()

    def __call__(self, run: ModelRun, loaded: LoadedModel) -> Any:
        """Run the model again, as the function does it."""
        return self.compute(run, loaded, *self.given)


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
        """The same sentence once more with something changed; what the change computes."""
