"""The landing page: attention over the visitor's own sentence, and cards that lead to the other pages.

The page is attnviz/pages/home/home.py; this runs it alone.
"""

from attnviz.pages.home.home import page

page()
