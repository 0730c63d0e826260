"""MHA, GQA, MQA, MLA: what sharing keys and values saves, and what it costs.

The page is attnviz/pages/sharing/sharing.py; this runs it alone.
"""

from attnviz.pages.sharing.sharing import page

page()
