"""MHA, GQA, MQA, MLA: what sharing keys and values saves, and what it costs.

The page is attnviz/ui/pages/sharing.py; this runs it alone.
"""

from attnviz.ui.pages import sharing

sharing.page()
