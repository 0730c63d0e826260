"""The sections of the scaling page; each is a module."""

__all__ = ["ending", "scaling_choices", "sections"]
