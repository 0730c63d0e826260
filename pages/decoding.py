"""Writing token by token: what the cache of keys and values holds, saves and costs, and how it goes wrong.

The page is attnviz/ui/pages/decoding.py; this runs it alone.
"""

from attnviz.ui.pages import decoding

decoding.page()
