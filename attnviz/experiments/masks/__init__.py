"""Who may look at whom, what follows from it, and how it goes wrong; each lesson is a module."""

__all__ = ["far_view", "leak_training", "mask_lab", "mask_programs", "mask_rules", "traps"]
