"""Which head does what, over many sentences."""

from attnviz.experiments.heads.batches import Batch
from attnviz.experiments.heads.head_costs import head_costs
from attnviz.experiments.heads.head_patterns import NAMED, HeadPattern
from attnviz.experiments.heads.head_scores import HeadScore, HeadScores
from attnviz.experiments.heads.mean_outputs import mean_outputs
from attnviz.experiments.heads.scan import ScoredRows, scan

__all__ = [
    "NAMED",
    "Batch",
    "HeadPattern",
    "HeadScore",
    "HeadScores",
    "ScoredRows",
    "head_costs",
    "mean_outputs",
    "scan",
]
