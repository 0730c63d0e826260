"""Why scores are divided by the square root of d_k: tried by hand, measured, and trained.

The page is attnviz/pages/scaling/scaling.py; this runs it alone.
"""

from attnviz.pages.scaling.scaling import page

page()
