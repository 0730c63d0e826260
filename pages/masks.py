"""Who may look at whom: a mask from rules and paint, and its effect on attention.

The page is attnviz/pages/masks/masks.py; this runs it alone.
"""

from attnviz.pages.masks.masks import page

page()
