"""Which head does what, over many sentences."""

from attnviz.experiments.heads.batches import Batch
from attnviz.experiments.heads.head_means import mean_outputs
from attnviz.experiments.heads.head_patterns import NAMED, HeadPattern
from attnviz.experiments.heads.head_scores import HeadScore, HeadScores
from attnviz.experiments.heads.removal_costs import cost_steps, costs_in_layer, head_costs, targets
from attnviz.experiments.heads.scan import ScoredRows, scan

__all__ = [
    "NAMED",
    "Batch",
    "HeadPattern",
    "HeadScore",
    "HeadScores",
    "ScoredRows",
    "cost_steps",
    "costs_in_layer",
    "head_costs",
    "head_kinds",
    "head_snippets",
    "head_survey",
    "mean_outputs",
    "prepared_surveys",
    "scan",
    "sentence_sets",
    "targets",
    "text_collection",
]
