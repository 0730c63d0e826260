"""Writing token by token: what the cache of keys and values holds, saves and costs.

The page is attnviz/pages/decoding/decoding.py; this runs it alone.
"""

from attnviz.pages.decoding.decoding import page

page()
