"""What the app knows of this page before it is opened."""

from attnviz.app.page_entry import CHART, LOOK, TABLE, Page
from attnviz.base.words import N_

PAGE = Page(
    name="compare",
    title=N_("Compare"),
    heading=N_("Attention, recurrence, convolution"),
    about=N_(
        "Three ways to let the tokens of a sequence hear of each other. Attention connects any two in one"
        " step and pays for it with the square of the length: here is what that buys, counted, timed and "
        "trained."
    ),
    icon=":material/balance:",
    group=LOOK,
    question=N_("What does attention buy, and what does it cost, beside a recurrence and a convolution?"),
    terms=("self_attention", "flop", "linear_attention"),
    scripts=(TABLE, CHART),
)
