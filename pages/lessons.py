"""Lessons on attention, step by step: one idea, one live picture, one thing to do, one question.

The page is attnviz/pages/lessons/lessons.py; this runs it alone.
"""

from attnviz.pages.lessons.lessons import page

page()
