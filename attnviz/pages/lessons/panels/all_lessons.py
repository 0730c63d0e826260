"""The eight lessons, in the order in which one learns."""

from __future__ import annotations

from attnviz.pages.lessons.panels import (
    lesson_attention,
    lesson_cache,
    lesson_masks,
    lesson_model,
    lesson_order,
    lesson_row,
    lesson_scaling,
    lesson_several_heads,
)
from attnviz.pages.lessons.panels.lesson_form import Lesson

LESSONS: dict[str, Lesson] = {
    module.LESSON.id: module.LESSON
    for module in (
        lesson_attention,
        lesson_row,
        lesson_scaling,
        lesson_several_heads,
        lesson_masks,
        lesson_order,
        lesson_cache,
        lesson_model,
    )
}
