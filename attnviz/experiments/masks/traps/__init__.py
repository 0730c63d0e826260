"""Mistakes around masks that no shape test finds: one file each, wrong and right code that both run."""

from __future__ import annotations

from attnviz.core.message import Problem
from attnviz.experiments.masks.traps import (
    before_scaling,
    dropout_in_eval,
    fill,
    floor_division,
    head_slices,
    ignored_mask,
    left_padding,
    linear_weight,
    meaning,
    softmax_first,
    top_left,
    unused_projections,
)
from attnviz.experiments.masks.traps.trap import IMPORTS, Outcome, Trap, TrapMatrix
from attnviz.experiments.word_vectors import Sentence

__all__ = ["IMPORTS", "TRAPS", "Outcome", "Trap", "TrapMatrix", "run"]

TRAPS: dict[str, Trap] = {
    module.TRAP.id: module.TRAP
    for module in (
        fill,
        meaning,
        before_scaling,
        softmax_first,
        top_left,
        left_padding,
        floor_division,
        unused_projections,
        ignored_mask,
        head_slices,
        linear_weight,
        dropout_in_eval,
    )
}


def run(trap: str, sentence: Sentence) -> Outcome:
    """Both pieces of code of one trap, on one sentence."""
    if trap not in TRAPS:
        raise Problem("There is no trap {trap}; choose one of {known}.", trap=repr(trap), known=", ".join(TRAPS))
    return TRAPS[trap].run(sentence)
