"""Who may look at whom: a mask from rules and paint, its effect on attention, and how masks go wrong.

The page is attnviz/pages/masks/masks.py; this runs it alone.
"""

from attnviz.pages.masks.masks import page

page()
