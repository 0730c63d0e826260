"""The sections of the page that compares attention with recurrence and convolution; each is a module."""

__all__ = ["compare_choices", "compare_sections"]
