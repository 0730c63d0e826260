"""The page with the words of attention."""

__all__ = ["glossary_choices", "glossary_panel"]
