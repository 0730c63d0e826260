"""Why a model says a token: what each part of it adds, the circuit that keeps it, two prompts against each other.

The page is attnviz/pages/why/why.py; this runs it alone.
"""

from attnviz.pages.why.why import page

page()
