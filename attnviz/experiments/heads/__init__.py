"""Which head does what, over many sentences."""

from attnviz.experiments.heads.head_scores import HeadScore, HeadScores
from attnviz.experiments.heads.patterns import NAMED, Pattern
from attnviz.experiments.heads.scan import Rows, scan

__all__ = ["NAMED", "HeadScore", "HeadScores", "Pattern", "Rows", "scan"]
