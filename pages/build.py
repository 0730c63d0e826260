"""Attention by hand: from words to output, one step at a time.

The page is attnviz/pages/build/build.py; this runs it alone.
"""

from attnviz.pages.build.build import page

page()
