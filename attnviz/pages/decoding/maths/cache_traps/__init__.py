"""Mistakes with a cache: one file each, wrong and right code, and what both give in the visitor's own sentence."""

from __future__ import annotations

from attnviz.base.message import Problem, Several
from attnviz.pages.decoding.maths.cache_traps import unshifted_positions, wrong_dimension
from attnviz.pages.decoding.maths.cache_traps.trap_program import program
from attnviz.runs.traps import top_left
from attnviz.runs.traps.trap import Outcome, Trap
from attnviz.runs.word_vectors import Sentence

__all__ = ["CACHE_TRAPS", "program", "run"]

#: the first one is a trap of masks as much as of caches, and lives there
CACHE_TRAPS: dict[str, Trap] = {
    trap.id: trap for trap in (top_left.TRAP, unshifted_positions.TRAP, wrong_dimension.TRAP)
}


def run(trap: str, sentence: Sentence) -> Outcome:
    """Both pieces of code of one trap, on one sentence."""
    if trap not in CACHE_TRAPS:
        raise Problem("There is no trap {trap}; choose one of {known}.", trap=repr(trap), known=Several(CACHE_TRAPS))
    return CACHE_TRAPS[trap].run(sentence)
