"""The register of facts: what computes the numbers and words in braces, by the names that a lesson's file calls."""

from collections.abc import Sequence
from functools import reduce

from attnviz.pages.lessons.maths import cost_facts, hand_facts, sentence_facts, trained_facts  # noqa: F401  (they fill it)
from attnviz.pages.lessons.maths.lesson_parts import FACTS, Facts, Subject

__all__ = ["FACTS", "compute_facts", "current_names"]

#: names of before, and what has their values today
_NOW = {
    "tokens": "sentence", "all_heads": "sentence", "chain": "sentence", "offered": "sentence, row",
    "vectors": "sentence, row", "row_sum": "row", "scaled": "row", "mixed": "row", "saturated": "scales",
    "square": "causal_mask", "kept": "causal_mask", "bytes_held": "kv_cache", "following": "next_token",
    "surprise": "next_token", "loop": "next_token", "task": "training",
}  # fmt: skip


def compute_facts(names: Sequence[str], subject: Subject) -> Facts:
    """All values of some facts; of two with one name the first counts, and so does the first right answer."""
    return reduce(Facts.joined, (FACTS[name](subject) for name in names), Facts({}))


def current_names(names: str) -> str:
    """Today's names of facts; older files name them with their module, as in "row_facts.score"."""
    module, _facts, name = names.rpartition("_facts.")
    return _NOW.get(name, name) if module else names
