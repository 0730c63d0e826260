"""What the start page lets a visitor choose; each is a module."""

__all__ = ["home_choices"]
