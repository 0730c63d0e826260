"""What the app knows of this page before it is opened."""

from attnviz.app.page_entry import CHART, METRIC, UNDERSTAND, Page
from attnviz.base.words import N_

PAGE = Page(
    name="decoding",
    title=N_("Decoding"),
    heading=N_("The KV cache, step by step"),
    about=N_(
        "A language model writes by predicting the next token, adding it to the text and reading on. The "
        "keys and values of what it has read never change, so it keeps them: that is the KV cache, shown "
        "here growing token by token."
    ),
    icon=":material/fast_forward:",
    group=UNDERSTAND,
    question=N_("What does a KV cache hold and save, token by token, and what happens when it is made smaller?"),
    terms=("kv_cache", "next_token", "prefill", "decode", "logit"),
    scripts=(METRIC, CHART),
)
