"""The lessons page; each is a module."""

__all__ = ["all_lessons", "lesson_choices", "lesson_page", "own_lesson"]
