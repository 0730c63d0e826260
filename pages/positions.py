"""How order gets into attention: nothing, added, turned or taken off the scores; longer texts; video; a real head.

The page is attnviz/pages/positions/positions.py; this runs it alone.
"""

from attnviz.pages.positions.positions import page

page()
