"""What the app knows of this page before it is opened."""

from attnviz.app.page_entry import BEGIN, Page
from attnviz.base.words import N_

PAGE = Page(
    name="home",
    title=N_("Start"),
    heading=N_("What is attention?"),
    icon=":material/visibility:",
    group=BEGIN,
    question=N_("What is attention?"),
    terms=("attention", "token", "head", "weight", "softmax"),
)
