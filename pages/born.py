"""A small model's training, step by step: when its heads come to look back, and what they need for it.

The page is attnviz/pages/born/born.py; this runs it alone.
"""

from attnviz.pages.born.born import page

page()
