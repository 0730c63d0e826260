"""The end of each section: its numbers again, as a program."""

from __future__ import annotations

from attnviz.experiments.explorer import ModelRun
from attnviz.experiments.positions import changed_rope
from attnviz.experiments.positions import rotation_snippets as programs
from attnviz.ui.shared import snippet


def program(code: str, section: str) -> None:
    """Draw the program of a section."""
    snippet(code, f"p-{section}")


def of_head(run: ModelRun, config: changed_rope.Config) -> None:
    """Draw the program of the section on a trained head, whose layers the model counts in its own way."""
    layer = run.stacks[0].layers[config.layer].index
    place = changed_rope.Config(layer, config.head, config.change, config.base, config.where)
    program(programs.head(run.request.model, run.request.text, place), "head")
