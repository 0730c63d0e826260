"""What a visitor can choose on this page."""

from attnviz.app.links.choices import PageChoices

PAGE = PageChoices("fast")
SECTION = PAGE.one_of("fast_section", ("tiles", "cost", "numerics", "paged", "traps"))
