"""Mistakes around masks that shape tests seldom find: wrong and right code of each, and what both give."""

from __future__ import annotations

from attnviz.base.message import Problem, Several
from attnviz.pages.masks.maths.traps import fills, heads, layers, meanings, places
from attnviz.runs.traps import TOP_LEFT, Outcome, Trap
from attnviz.runs.word_vectors import Sentence

TRAPS: dict[str, Trap] = {
    trap.id: trap
    for trap in (
        fills.FILL,
        meanings.MEANING,
        fills.BEFORE_SCALING,
        fills.SOFTMAX_FIRST,
        TOP_LEFT,
        meanings.LEFT_PADDING,
        layers.FLOOR_DIVISION,
        layers.UNUSED_PROJECTIONS,
        meanings.IGNORED_MASK,
        heads.HEAD_SLICES,
        layers.LINEAR_WEIGHT,
        layers.DROPOUT_IN_EVAL,
        places.INTEGER_POSITIONS,
        heads.QUERY_HEADS_OF_KEYS,
        heads.EXPANDED_HEADS,
        heads.QUERY_LENGTH,
        places.ODD_AXES,
        meanings.CROPPED_MASK,
    )
}


def run(trap: str, sentence: Sentence) -> Outcome:
    """Both pieces of code of one trap, on one sentence."""
    if trap not in TRAPS:
        raise Problem("There is no trap {trap}; choose one of {known}.", trap=repr(trap), known=Several(TRAPS))
    return TRAPS[trap].run(sentence)
