"""Which words may look at which, what follows from it, and common mistakes; each lesson is a module."""

__all__ = ["far_view", "leak_training", "mask_lab", "mask_programs", "mask_rules", "traps"]
