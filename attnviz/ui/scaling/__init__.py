"""The sections of the scaling page; each is a module."""

__all__ = ["curves", "ending", "names", "results", "scaling_choices", "sections"]
