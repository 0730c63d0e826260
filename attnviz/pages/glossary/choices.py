"""What a visitor can choose in the glossary."""

from attnviz.app.links.choices import PageChoices
from attnviz.base.words import N_

PAGE = PageChoices("glossary")
FIND = PAGE.text("w_find", longest=200, label=N_("Find a word"))
#: ids of words: whose picture is looked for, and which was pressed
ASKED = PAGE.text("w_ask", longest=40, label=N_("Word to find the picture of"))
GUESS = PAGE.text("w_guess", longest=40, label=N_("Your guess"))
ORDER = PAGE.one_of("w_order", ("learning", "alphabet"), label=N_("Order"))
