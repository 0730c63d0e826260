"""Attention against recurrence and convolution: what each costs, measures, reaches and shares.

The page is attnviz/ui/pages/compare.py; this runs it alone.
"""

from attnviz.ui.pages import compare

compare.page()
