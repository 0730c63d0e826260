"""Why flash attention is fast: scores in tiles, what that costs and saves, how it rounds, a cache in blocks.

The page is attnviz/pages/fast/fast.py; this runs it alone.
"""

from attnviz.pages.fast.fast import page

page()
