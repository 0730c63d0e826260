"""What the app knows of this page before it is opened."""

from attnviz.app.page_entry import CHART, FORMULA, TABLE, UNDERSTAND, Page
from attnviz.base.words import N_

PAGE = Page(
    name="build",
    title=N_("Build"),
    heading=N_("Build attention by hand"),
    about=N_(
        "One attention layer, small enough to check by hand, step by step. Click any number to see the sum "
        "that made it."
    ),
    icon=":material/calculate:",
    group=UNDERSTAND,
    question=N_("How do words become queries, keys, values and an output, number by number?"),
    terms=("query", "key", "value", "score", "softmax", "multi_head", "w_o"),
    scripts=(FORMULA, TABLE, CHART),
)
