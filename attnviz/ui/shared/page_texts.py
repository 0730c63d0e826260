"""What each page is called and what it is about: said at the head of the page, and by the server before it is there."""

from __future__ import annotations

from attnviz.words import N_, _

#: by a page's name in its address: its title, and two sentences for somebody who comes to it first, where it has some
TEXTS: dict[str, tuple[str, str | None]] = {
    "home": (N_("What is attention?"), None),
    "lessons": (
        N_("Lessons"),
        N_(
            "Eight lessons of a few steps each, from what attention is to where it sits in a model. Predict before you "
            "look, try what the picture lets you try, and go on by button or arrow key."
        ),
    ),
    "build": (
        N_("Build attention by hand"),
        N_(
            "One attention layer, small enough to check by hand: words become queries, keys and values, scores, "
            "weights and an output, one step at a time. Click any number to see the sum that made it."
        ),
    ),
    "scaling": (
        N_("Why divide by √d_k?"),
        N_(
            "*“Large dot products push softmax into regions with tiny gradients.”* Seven short sections take that "
            "sentence apart, word by word. Every number is computed now, from random vectors with a seed or from a "
            "trained model."
        ),
    ),
    "heads": (
        N_("Which head does what"),
        N_(
            "Every head of a model over many sentences: which patterns it shows, and what it costs to take it away. "
            "Click on a head."
        ),
    ),
    "masks": (
        N_("Who may look at whom"),
        N_(
            "A mask decides which tokens a token may look at: what is hidden gets no weight at all. A causal mask "
            "hides what comes later, so that one sentence trains a model to predict every next token at once."
        ),
    ),
    "positions": (
        N_("How order gets in"),
        N_(
            "Attention compares every word with every word, and a set has no order. Seven short sections show how "
            "positions come in, what each way does to the scores, and what happens beyond the length of training."
        ),
    ),
    "decoding": (
        N_("The KV cache, step by step"),
        N_(
            "A language model writes by predicting the next token, adding it to the text and reading on. The keys and "
            "values of what it has read never change, so it keeps them: that is the KV cache, shown here growing "
            "token by token."
        ),
    ),
    "sharing": (
        N_("Share keys and values"),
        N_(
            "While a model writes, each new token’s query meets the keys and values of all tokens before it; these "
            "never change, so they are kept instead of computed again: the KV cache. Where several query heads read "
            "one key/value head (grouped-query attention, GQA; with a single one multi-query, MQA), there is less to "
            "keep."
        ),
    ),
    "explore": (
        N_("Explore attention"),
        N_(
            "A trained model reads your sentence with many heads, each a pattern of its own of who looks at whom. "
            "Every small square is one head; click one to see its weights, and change its mask or its scale."
        ),
    ),
    "pictures": (
        N_("Pictures"),
        N_(
            "A vision model cuts a picture into patches, and its heads let each patch look at all others. Click a "
            "patch to see where it looks, and hide some to see what the model says then."
        ),
    ),
    "compare": (
        N_("Attention, recurrence, convolution"),
        N_(
            "Three ways to let the tokens of a sequence hear of each other. Attention connects any two in one step and "
            "pays for it with the square of the length: here is what that buys, counted, timed and trained."
        ),
    ),
    "glossary": (N_("Glossary"), None),
}


def of(page: str) -> tuple[str, str | None]:
    """Title and sentences of a page in the reader's language."""
    title, about = TEXTS[page]
    return _(title), None if about is None else _(about)
