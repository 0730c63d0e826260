"""What the start page lets a visitor choose, and what it says of a Chinese sentence; each is a module."""

__all__ = ["home_choices", "other_script"]
