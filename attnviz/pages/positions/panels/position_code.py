"""The end of each section: its numbers again, as a program."""

from __future__ import annotations

from attnviz.app.code_snippet import snippet
from attnviz.base.words import _
from attnviz.pages.positions.maths import position_snippets as programs
from attnviz.runs import changed_rope
from attnviz.runs.model_run import ModelRun


def program(code: str, section: str) -> None:
    """Draw the program of a section, and say which of its numbers it prints."""
    abouts = {
        "order": _("Paste this code into a notebook: it prints the largest change of an output."),
        "scores": _("Paste this code into a notebook: it prints mean scores by distance, and what a shift changes."),
        "longer": _("Paste this code into a notebook: it prints wavelengths and new angles under every scaling."),
        "video": _(
            "Paste this code into a notebook: it prints the split of the head, and scores of the query’s frame."
        ),
        "head": _(
            "Paste this code into a notebook: it prints how much weight moves, the row that changes most, and what "
            "comes next."
        ),
        "norm": _("Paste this code into a notebook: it prints the largest logits and the entropies at this factor."),
    }
    snippet(code, f"p-{section}", about=abouts.get(section))


def of_head(run: ModelRun, config: changed_rope.Config) -> None:
    """Draw the program of the section on a trained head, whose layers the model counts in its own way."""
    layer = run.stacks[0].layers[config.layer].index
    place = changed_rope.Config(layer, config.head, config.change, config.base, config.where)
    program(programs.head(run.request.model, run.request.text, place), "head")
