"""Mistakes with a cache: one file each, wrong and right code, and what both give in the visitor's own sentence."""

from __future__ import annotations

from attnviz.core.message import Problem, Several
from attnviz.experiments.decoding.cache_traps import unshifted_positions, wrong_dimension
from attnviz.experiments.decoding.cache_traps.trap_program import program
from attnviz.experiments.masks import traps
from attnviz.experiments.word_vectors import Sentence

__all__ = ["CACHE_TRAPS", "program", "run"]

#: the first one is a trap of masks as much as of caches, and lives there
CACHE_TRAPS: dict[str, traps.Trap] = {
    trap.id: trap for trap in (traps.TRAPS["top_left"], unshifted_positions.TRAP, wrong_dimension.TRAP)
}


def run(trap: str, sentence: Sentence) -> traps.Outcome:
    """Both pieces of code of one trap, on one sentence."""
    if trap not in CACHE_TRAPS:
        raise Problem("There is no trap {trap}; choose one of {known}.", trap=repr(trap), known=Several(CACHE_TRAPS))
    return CACHE_TRAPS[trap].run(sentence)
