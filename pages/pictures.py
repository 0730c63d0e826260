"""Attention over pictures: where each patch looks, what a model says, and what it says when patches are hidden.

The page is attnviz/ui/pages/pictures.py; this runs it alone.
"""

from attnviz.ui.pages import pictures

pictures.page()
