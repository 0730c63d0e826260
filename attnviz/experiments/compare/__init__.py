"""Attention against recurrence and convolution; each lesson is a module."""

__all__ = [
    "compare_snippets",
    "compared_layers",
    "counted_costs",
    "heads_as_kernel",
    "layer_costs",
    "layer_timing",
    "position_mixing",
    "reach",
    "reach_training",
    "shared_parameters",
    "timing_process",
    "training_process",
]
