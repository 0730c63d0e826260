"""The numbers of each section again, as a short program for the state on screen."""

from attnviz.pages.scaling.maths.programs.head_program import of_head
from attnviz.pages.scaling.maths.programs.row_programs import of_alternatives, of_gradient, of_saturation
from attnviz.pages.scaling.maths.programs.softmax_program import of_softmax
from attnviz.pages.scaling.maths.programs.spread_program import of_variance
from attnviz.pages.scaling.maths.programs.training_program import of_training

__all__ = [
    "of_alternatives",
    "of_gradient",
    "of_head",
    "of_saturation",
    "of_softmax",
    "of_training",
    "of_variance",
]
