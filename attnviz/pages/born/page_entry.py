"""What the app knows of this page before it is opened."""

from attnviz.app.page_entry import CHART, LOOK, Page
from attnviz.base.words import N_

PAGE = Page(
    name="born",
    title=N_("How a head is born"),
    heading=N_("How a head is born"),
    about=N_("A tiny model learns to repeat words. Drag the handle through its training."),
    icon=":material/egg:",
    group=LOOK,
    question=N_("When does a model learn to look back, and which head learns it first?"),
    terms=("induction", "previous_token_head", "knock_out", "training_step", "nat"),
    scripts=(CHART,),
)
