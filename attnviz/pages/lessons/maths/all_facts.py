"""The register of facts: what computes the numbers and words in braces, by the names that a lesson's file calls."""

from collections.abc import Sequence
from functools import reduce

from attnviz.pages.lessons.maths import (  # noqa: F401  (each registers its facts)
    born_facts,
    cache_facts,
    fast_facts,
    heads_facts,
    mask_facts,
    mixture_facts,
    model_facts,
    order_facts,
    pair_facts,
    row_facts,
    scaling_facts,
)
from attnviz.pages.lessons.maths.lesson_parts import FACTS, Facts, Subject

__all__ = ["FACTS"]


def compute_facts(names: Sequence[str], subject: Subject) -> Facts:
    """All values of some facts; of two with one name the first counts, and so does the first right answer."""
    return reduce(Facts.joined, (FACTS[name](subject) for name in names), Facts({}))


def current_names(names: str) -> str:
    """Names of facts as they are today: those of before were called with their module, as in "row_facts.score"."""
    return names.rpartition("_facts.")[2]
