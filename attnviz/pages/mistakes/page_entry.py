"""What the app knows of this page before it is opened."""

from attnviz.app.page_entry import UNDERSTAND, Page
from attnviz.base.words import N_

PAGE = Page(
    name="mistakes",
    title=N_("Find the mistake"),
    heading=N_("Which line is wrong?"),
    about=N_("Programs of about ten lines, each with one mistake."),
    icon=":material/bug_report:",
    group=UNDERSTAND,
    question=N_("Which line of this program is wrong, what does it do, and which test finds it?"),
    terms=("mask", "softmax", "head", "kv_cache"),
)
