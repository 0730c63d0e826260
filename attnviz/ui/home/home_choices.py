"""What a visitor can choose on the start page."""

from __future__ import annotations

from attnviz.ui.shared import PageChoices

EXAMPLE = "The animal didn't cross the street because it was too tired."

PAGE = PageChoices("home")
SENTENCE = PAGE.sentence("sentence", EXAMPLE, longest=400)
CAUSAL = PAGE.flag("causal", True)
SCALED = PAGE.flag("scaled", True)
