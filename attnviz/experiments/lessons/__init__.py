"""What the lessons say is computed here: one module of facts for each lesson, from the visitor's own sentence."""

from attnviz.experiments.lessons.subject import HEAD, Facts, FactsOf, Subject, nothing

__all__ = [
    "HEAD",
    "Facts",
    "FactsOf",
    "Subject",
    "cache_facts",
    "heads_facts",
    "mask_facts",
    "mixture_facts",
    "model_facts",
    "nothing",
    "order_facts",
    "row_facts",
    "scaling_facts",
]
