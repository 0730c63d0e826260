"""What a visitor can choose in the glossary."""

from attnviz.app.links.choices import PageChoices

PAGE = PageChoices("glossary")
FIND = PAGE.text("w_find", longest=200)
