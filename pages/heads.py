"""Which head does what: all heads of a model over many sentences.

The page is attnviz/pages/heads/heads.py; this runs it alone.
"""

from attnviz.pages.heads.heads import page

page()
