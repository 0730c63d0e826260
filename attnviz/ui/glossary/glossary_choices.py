"""What a visitor can choose in the glossary."""

from __future__ import annotations

from attnviz.ui.shared import PageChoices

PAGE = PageChoices("glossary")
FIND = PAGE.text("w_find", longest=200)
