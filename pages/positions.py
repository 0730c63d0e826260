"""How order gets into attention: nothing, added, turned or taken off the scores; longer texts; video; a real head.

The page is attnviz/ui/pages/positions.py; this runs it alone.
"""

from attnviz.ui.pages import positions

positions.page()
