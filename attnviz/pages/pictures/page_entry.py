"""What the app knows of this page before it is opened."""

from attnviz.app.page_entry import LOOK, Page
from attnviz.base.words import N_

PAGE = Page(
    name="pictures",
    title=N_("Pictures"),
    heading=N_("Pictures"),
    about=N_(
        "A vision model cuts a picture into patches that look at each other. Draw a digit on it, and see what it says."
    ),
    icon=":material/image:",
    group=LOOK,
    question=N_("Where does each patch of a picture look, and what does a model say when I hide some of them?"),
    terms=("attention", "head", "weight"),
)
