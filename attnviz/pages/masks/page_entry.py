"""What the app knows of this page before it is opened."""

from attnviz.app.page_entry import CHART, UNDERSTAND, Page
from attnviz.base.words import N_

PAGE = Page(
    name="masks",
    title=N_("Masks"),
    heading=N_("Who may look at whom"),
    about=N_(
        "A mask decides which tokens a token may look at. A causal one hides what comes later, as in models that write."
    ),
    icon=":material/grid_on:",
    group=UNDERSTAND,
    question=N_("Who may look at whom, and what does a mask leave of attention?"),
    terms=("mask", "causal_mask", "padding", "window", "next_token"),
    scripts=(CHART,),
)
