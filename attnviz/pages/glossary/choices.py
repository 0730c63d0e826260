"""What a visitor can choose in the glossary."""

from attnviz.app.links.choices import PageChoices
from attnviz.base.words import N_

PAGE = PageChoices("glossary")
FIND = PAGE.text("w_find", longest=200, label=N_("Find a word"))
ORDER = PAGE.one_of("w_order", ("learning", "alphabet"), label=N_("Order"))
