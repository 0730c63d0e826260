"""What the app knows of this page before it is opened."""

from attnviz.app.page_entry import CHART, TABLE, UNDERSTAND, Page
from attnviz.base.words import N_

PAGE = Page(
    name="heads",
    title=N_("Heads"),
    heading=N_("Which head does what"),
    about=N_(
        "Every head of a model over many sentences: which patterns it shows, and what it costs to take it "
        "away. Click one."
    ),
    icon=":material/grid_view:",
    group=UNDERSTAND,
    question=N_("Which head does what, over many sentences, and what does it cost to take it away?"),
    terms=("head", "layer", "weight", "induction", "sink", "nat"),
    scripts=(TABLE, CHART),
)
