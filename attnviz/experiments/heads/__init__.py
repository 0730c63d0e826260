"""Which head does what, over many sentences."""

from attnviz.experiments.heads.batches import Batch
from attnviz.experiments.heads.growing_scores import GrowingScores
from attnviz.experiments.heads.head_means import HeadSums, mean_of, mean_outputs, sums_of
from attnviz.experiments.heads.head_patterns import NAMED, HeadPattern
from attnviz.experiments.heads.head_scores import HeadScore, HeadScores
from attnviz.experiments.heads.head_work import HeadsHere, HeadWork
from attnviz.experiments.heads.removal_costs import cost_steps, costs_in_layer, head_costs, targets
from attnviz.experiments.heads.scan import ScoredRows, scan

__all__ = [
    "NAMED",
    "Batch",
    "GrowingScores",
    "HeadPattern",
    "HeadScore",
    "HeadScores",
    "HeadSums",
    "HeadWork",
    "HeadsHere",
    "ScoredRows",
    "cost_steps",
    "costs_in_layer",
    "head_costs",
    "head_kinds",
    "head_snippets",
    "head_survey",
    "mean_of",
    "mean_outputs",
    "prepared_surveys",
    "scan",
    "sentence_sets",
    "sums_of",
    "targets",
    "text_collection",
]
