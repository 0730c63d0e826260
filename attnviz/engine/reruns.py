"""The lessons that run a model again with something changed, by their names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from attnviz.base.head_edit import HeadEdit
from attnviz.engine.engine_protocol import Rerun, RerunId
from attnviz.models.capture import Trace
from attnviz.models.catalogue import LoadedModel
from attnviz.runs import changed_rope, downstream, predictions, what_if
from attnviz.runs.model_run import ModelRun, StackId


def run_rerun(run: ModelRun, loaded: LoadedModel, change: Rerun) -> Any:
    """Run the model again, as the lesson does it."""
    return _LESSONS[change.lesson](run, loaded, *change.told)


def _what_if(run: ModelRun, loaded: LoadedModel, stack: StackId, layer: int, head: int, changed: HeadEdit) -> Trace:
    return what_if.run_again(run, loaded, run.stack(stack), layer, head, changed)


def _rotation(_run: ModelRun, loaded: LoadedModel) -> Any:
    return changed_rope.rotation(loaded)


_LESSONS: Final[dict[RerunId, Callable[..., Any]]] = {
    "what_if": _what_if,
    "sharing": downstream.run,
    "rotation": _rotation,
    "changed_rope": changed_rope.run,
    "sentence_fit": predictions.run,
}
