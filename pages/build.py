"""Attention by hand: from words to output, one step at a time.

The page is attnviz/ui/pages/build.py; this runs it alone.
"""

from attnviz.ui.pages import build

build.page()
