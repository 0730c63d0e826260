"""The words of attention, each in two sentences, with the way to where it can be seen.

The page is attnviz/pages/glossary/glossary.py; this runs it alone.
"""

from attnviz.pages.glossary.glossary import page

page()
