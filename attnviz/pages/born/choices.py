"""What a visitor can choose on this page."""

from attnviz.app.links.choices import PageChoices
from attnviz.base.words import N_
from attnviz.pages.born.maths.life import LIMITS

PAGE = PageChoices("born")
SECTION = PAGE.one_of("born_section", ("life", "others", "real", "watched"), label=N_("Section"))
RUN = PAGE.one_of("born_run", label=N_("Training run"))
TEXT = PAGE.text("born_words", "the cat saw a red bird", longest=400, label=N_("Your words, which come twice"))
WATCH = PAGE.text("born_watch", longest=1000, label=N_("Path of a file of av.watch"))
AT = PAGE.integer(
    "born_at", LIMITS["steps"][1], low=0, high=LIMITS["steps"][1], label=N_("Training step")
)  #: the training step; the nearest that is kept is shown, by default the last
OFF = PAGE.several("born_off", label=N_("Silenced heads"))  #: silenced heads, "0.1"
GUESSES = ("100", "300", "1000", "never")  #: steps
GUESS = PAGE.one_of("born_guess", ("none", *GUESSES), label=N_("Your guess"))
CHANGED = PAGE.one_of(
    "born_changed",
    ("seeds", "blurred", "one-layer", "no-mask", "no-scaling", "one-head-less"),
    label=N_("What is changed"),
)
