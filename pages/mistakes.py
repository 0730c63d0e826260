"""Find the wrong line of a program, and see what it does and which test finds it.

The page is attnviz/pages/mistakes/mistakes.py; this runs it alone.
"""

from attnviz.pages.mistakes.mistakes import page

page()
