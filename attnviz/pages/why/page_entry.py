"""What the app knows of this page before it is opened."""

from attnviz.app.page_entry import CHART, LOOK, Page
from attnviz.base.words import N_

PAGE = Page(
    name="why",
    title=N_("Why this token?"),
    heading=N_("Why this token?"),
    about=N_(
        "Every head and every MLP adds to the next token’s logit, or takes from it. Cut one, and see who makes up."
    ),
    icon=":material/account_tree:",
    group=LOOK,
    question=N_("Which heads made the model say this word, and what happens without them?"),
    terms=("logit", "residual", "attribution", "lens", "patching", "circuit"),
    scripts=(CHART,),
)
