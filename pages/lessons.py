"""Eight lessons on attention, step by step: one idea, one live picture, one thing to do, one question."""

from __future__ import annotations

from attnviz.ui.lessons import lesson_page
from attnviz.ui.shared import page_heading
from attnviz.words import _

page_heading(_("Lessons"))
lesson_page.panel()
