"""Which head does what: all heads of a model over many sentences.

The page is attnviz/ui/pages/heads.py; this runs it alone.
"""

from attnviz.ui.pages import heads

heads.page()
