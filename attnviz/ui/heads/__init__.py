"""The page on which head does what: a map of all heads, a plane of two measures, names with evidence, examples."""

__all__ = ["heads_choices", "heads_page"]
