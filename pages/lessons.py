"""Eight lessons on attention, step by step: one idea, one live picture, one thing to do, one question.

The page is attnviz/ui/pages/lessons.py; this runs it alone.
"""

from attnviz.ui.pages import lessons

lessons.page()
