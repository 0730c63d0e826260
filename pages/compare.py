"""Attention against recurrence and convolution: what each costs, measures, reaches and shares.

The page is attnviz/pages/compare/compare.py; this runs it alone.
"""

from attnviz.pages.compare.compare import page

page()
