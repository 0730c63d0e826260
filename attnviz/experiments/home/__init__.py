"""What the start page shows: one lesson, `landing`."""

__all__ = ["landing"]
