"""The numbers that stand in the glossary, computed."""

__all__ = ["term_numbers"]
