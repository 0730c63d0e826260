"""Why scores are divided by the square root of d_k; each lesson is a module."""

__all__ = [
    "alternatives",
    "draws",
    "growing_width",
    "jacobian",
    "length",
    "programs",
    "real_head",
    "released_models",
    "retrieval_training",
    "saturation",
    "softmax_numerics",
    "variance",
]
