"""The explorer: a sentence, every head of a model, and what changes when a head is changed.

The page is attnviz/ui/pages/explore.py; this runs it alone.
"""

from attnviz.ui.pages import explore

explore.page()
