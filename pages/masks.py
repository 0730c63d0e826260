"""Who may look at whom: a mask from rules and paint, its effect on attention, and how masks go wrong.

The page is attnviz/ui/pages/masks.py; this runs it alone.
"""

from attnviz.ui.pages import masks

masks.page()
