"""Which head does what, over many sentences."""

from attnviz.experiments.heads.head_patterns import NAMED, HeadPattern
from attnviz.experiments.heads.head_scores import HeadScore, HeadScores
from attnviz.experiments.heads.scan import ScoredRows, scan

__all__ = ["NAMED", "HeadPattern", "HeadScore", "HeadScores", "ScoredRows", "scan"]
