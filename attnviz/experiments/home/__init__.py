"""What the start page shows; the lesson is a module."""

__all__ = ["landing"]
