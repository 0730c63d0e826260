"""The head on show: everything that the panels below it need to know of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from attnviz import canvas
from attnviz.app.head_drawing import head_title, telling_row
from attnviz.base.head_edit import HeadEdit
from attnviz.runs.head_matrix import Look, Matrix
from attnviz.runs.model_run import ModelRun, Stack


@dataclass(frozen=True)
class Shown:
    """The head on show and how it is shown: everything that the panels below need."""

    run: ModelRun
    stack: Stack
    layer: int
    head: int
    look: Look
    scene: canvas.HeadScene
    matrix: Matrix  #: as it is on show: under the edit where that is seen
    pins: canvas.Pins
    edit: HeadEdit  #: of mask and scale, and what of it is on show

    @cached_property
    def query(self) -> int:
        """The row that sentences and stages describe: the clicked cell's, else the last pinned, else `telling_row`."""
        if self.pins.cell is not None:
            return self.pins.cell[0]
        pinned = [pin.index for pin in self.pins.tokens if pin.axis == "q"]
        return pinned[-1] if pinned else telling_row(self.matrix)


def drawn_head(shown: Shown) -> canvas.Head:
    """What is on show, as numbers: the head under the visitor's mask and scale, or the difference that they make."""
    title = head_title(shown.stack, shown.layer, shown.head)
    kind = "diff" if shown.edit.seen == "difference" else shown.look.values
    return canvas.Head(shown.matrix.values, title, shown.matrix.hidden, kind, shown.layer, shown.head)
