"""What the app knows of this page before it is opened."""

from attnviz.app.page_entry import CHART, FORMULA, UNDERSTAND, Page
from attnviz.base.words import N_

PAGE = Page(
    name="sharing",
    title=N_("Share heads"),
    heading=N_("Share keys and values"),
    about=N_("A model that writes keeps the keys and values of all tokens. Heads that share them keep less."),
    icon=":material/account_tree:",
    group=UNDERSTAND,
    question=N_("What do GQA, MQA and MLA save, what do they cost, and does my model fit?"),
    terms=("kv_cache", "mha", "gqa", "mqa", "mla"),
    scripts=(FORMULA, CHART),
)
