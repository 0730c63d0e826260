"""What a visitor can choose on this page."""

from attnviz.app.links.choices import PageChoices
from attnviz.pages.born.maths.repeats import LIMITS

PAGE = PageChoices("born")
SECTION = PAGE.one_of("born_section", ("life", "others", "real"))
RUN = PAGE.one_of("born_run")
WORDS = PAGE.text("born_words", "the cat saw a red bird", longest=400)
AT = PAGE.whole("born_at", 100, low=0, high=LIMITS["steps"][1])  #: the training step; the nearest that is kept is shown
OFF = PAGE.several("born_off")  #: silenced heads, "0.1"
GUESSES = ("100", "300", "1000", "never")  #: steps
GUESS = PAGE.one_of("born_guess", ("none", *GUESSES))
CHANGED = PAGE.one_of("born_changed", ("seeds", "blurred", "one-layer", "no-mask", "no-scaling", "one-head-less"))
