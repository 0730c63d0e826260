"""Why scores are divided by the square root of d_k: tried by hand, measured, and trained.

The page is attnviz/ui/pages/scaling.py; this runs it alone.
"""

from attnviz.ui.pages import scaling

scaling.page()
