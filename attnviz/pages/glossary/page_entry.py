"""What the app knows of this page before it is opened."""

from attnviz.app.page_entry import LOOK, Page
from attnviz.base.words import N_

PAGE = Page(
    name="glossary",
    title=N_("Glossary"),
    heading=N_("Glossary"),
    icon=":material/menu_book:",
    group=LOOK,
    question=N_("What do the words mean: key, head, logit, nat, KV cache, GQA?"),
)
