"""What the app knows of this page before it is opened."""

from attnviz.app.page_entry import CHART, METRIC, UNDERSTAND, Page
from attnviz.base.words import N_

PAGE = Page(
    name="decoding",
    title=N_("Decoding"),
    heading=N_("The KV cache, step by step"),
    about=N_(
        "A model writes token by token. It keeps the keys and values of what it has read: the KV cache, growing here."
    ),
    icon=":material/fast_forward:",
    group=UNDERSTAND,
    question=N_("What does a KV cache hold and save, token by token, and what happens when it is made smaller?"),
    terms=("kv_cache", "next_token", "prefill", "decode", "logit"),
    scripts=(METRIC, CHART),
)
