"""What the app knows of this page before it is opened."""

from attnviz.app.page_entry import CHART, LOOK, TABLE, Page
from attnviz.base.words import N_

PAGE = Page(
    name="compare",
    title=N_("Compare"),
    heading=N_("Attention, recurrence, convolution"),
    about=N_("A word must hear of one far before it. Drag how far, and see how many steps three machines take."),
    icon=":material/balance:",
    group=LOOK,
    question=N_("What does attention buy, and what does it cost, beside a recurrence and a convolution?"),
    terms=("self_attention", "flop", "window", "linear_attention", "fused"),
    scripts=(TABLE, CHART),
)
