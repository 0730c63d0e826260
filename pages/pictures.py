"""Attention over pictures: where each patch looks, what a model says, and what it says when patches are hidden.

The page is attnviz/pages/pictures/pictures.py; this runs it alone.
"""

from attnviz.pages.pictures.pictures import page

page()
