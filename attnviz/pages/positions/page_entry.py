"""What the app knows of this page before it is opened."""

from attnviz.app.page_entry import CHART, FORMULA, UNDERSTAND, Page
from attnviz.base.words import N_

PAGE = Page(
    name="positions",
    title=N_("Positions"),
    heading=N_("How order gets in"),
    about=N_(
        "Without a mask, attention sees a set of words, not a sequence. Five sections show how order gets in, and "
        "what each way does."
    ),
    icon=":material/explore:",
    group=UNDERSTAND,
    question=N_(
        "How does attention know which word comes first, and what happens beyond the length it was trained on?"
    ),
    terms=("position", "sinusoidal", "rope", "alibi"),
    scripts=(FORMULA, CHART),
)
