"""The words of attention, each in two sentences, with the way to where it can be seen.

The page is attnviz/ui/pages/glossary.py; this runs it alone.
"""

from attnviz.ui.pages import glossary

glossary.page()
