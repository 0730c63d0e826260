"""What the app knows of this page before it is opened."""

from attnviz.app.page_entry import CHART, FORMULA, UNDERSTAND, Page
from attnviz.base.words import N_

PAGE = Page(
    name="positions",
    title=N_("Positions"),
    heading=N_("How order gets in"),
    about=N_(
        "Attention compares every word with every word, and a set has no order. Seven short sections show"
        " how positions come in, what each way does to the scores, and what happens beyond the length of "
        "training."
    ),
    icon=":material/explore:",
    group=UNDERSTAND,
    question=N_(
        "How does attention know which word comes first, and what happens beyond the length it was trained on?"
    ),
    terms=("position", "sinusoidal", "rope", "alibi"),
    scripts=(FORMULA, CHART),
)
