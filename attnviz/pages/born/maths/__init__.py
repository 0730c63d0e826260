"""A small model that learns to repeat: how it is trained, and what was trained."""
