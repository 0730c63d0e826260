"""Mistakes around masks that shape tests seldom find: one file each, wrong and right code, and what both give."""

from __future__ import annotations

from attnviz.base.message import Problem, Several
from attnviz.pages.masks.maths.traps import (
    before_scaling,
    cropped_mask,
    dropout_in_eval,
    expanded_heads,
    fill,
    floor_division,
    head_slices,
    ignored_mask,
    integer_positions,
    left_padding,
    linear_weight,
    meaning,
    odd_axes,
    query_heads_of_keys,
    query_length,
    softmax_first,
    unused_projections,
)
from attnviz.runs.traps import top_left
from attnviz.runs.traps.trap import IMPORTS, Outcome, Trap, TrapMatrix, error_of, largest_gap, picture, source
from attnviz.runs.word_vectors import Sentence

__all__ = ["IMPORTS", "TRAPS", "Outcome", "Trap", "TrapMatrix", "error_of", "largest_gap", "picture", "run", "source"]

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
        integer_positions,
        query_heads_of_keys,
        expanded_heads,
        query_length,
        odd_axes,
        cropped_mask,
    )
}


def run(trap: str, sentence: Sentence) -> Outcome:
    """Both pieces of code of one trap, on one sentence."""
    if trap not in TRAPS:
        raise Problem("There is no trap {trap}; choose one of {known}.", trap=repr(trap), known=Several(TRAPS))
    return TRAPS[trap].run(sentence)
