"""The explorer: a sentence, every head of a model, and what changes when a head is changed.

The page is attnviz/pages/explore/explore.py; this runs it alone.
"""

from attnviz.pages.explore.explore import page

page()
