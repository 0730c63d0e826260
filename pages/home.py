"""The landing page: attention over the visitor's own sentence, and cards that lead to the other pages.

The page is attnviz/ui/pages/home.py; this runs it alone.
"""

from attnviz.ui.pages import home

home.page()
