"""The sections of the positions page; each is a module."""

__all__ = ["position_sections", "positions_choices"]
