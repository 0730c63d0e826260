"""The name of each step, and one sentence about it with the numbers on show."""

from collections.abc import Callable

import numpy as np

from attnviz.app.text import escape_markdown, quote_token
from attnviz.base.largest import Largest, find_largest
from attnviz.base.rounding import Rounded
from attnviz.base.words import N_, _, join_sentences, ngettext
from attnviz.pages.build.maths import inputs
from attnviz.pages.build.maths.boards import View


def displayed_matrix(view: View, name: str) -> np.ndarray:
    """The matrix of tensor `name` (B, H, ...) for the displayed sentence and head."""
    return np.asarray(view.result.tensors[name][view.batch, view.head])


def largest_entry(view: View, name: str) -> tuple[str, str, Largest]:
    """Query word, key word and the largest entry on show of a (B, H, Q, K) tensor; words are safe for Markdown."""
    matrix = displayed_matrix(view, name)
    if has_single_key_rows(view) and name != "scores":  # such a row gives all its weight to that key in any case
        matrix = np.where(view.result.tensors["mask"].sum(-1, keepdims=True) > 1, matrix, -np.inf)
    largest = find_largest(matrix)
    i, j = largest.at
    return query_sentence(view, i), key_sentence(view, j), largest


def has_single_key_rows(view: View) -> bool:
    """Whether the mask leaves some words a single key, and others a choice."""
    mask = view.result.tensors.get("mask")
    return mask is not None and bool((mask.sum(-1) == 1).any() and (mask.sum(-1) > 1).any())


def query_sentence(view: View, i: int) -> str:
    return quote_token(view.result.q_words[view.batch][i])


def key_sentence(view: View, j: int) -> str:
    return quote_token(view.result.k_words[view.batch][j])


def name(step: str) -> str:
    """A step's name on the strip."""
    return _(_STEPS[step][0])


def step_sentence(step: str, view: View, vectors: inputs.Rows | None) -> str:
    """A sentence on what a step shows, as Markdown. `vectors`: trained embedding rows. None: random vectors."""
    if step == "embed" and vectors is not None:
        return _describe_embeddings(vectors, view)
    if step == "embed" and view.config.rows:
        return _("Each word has a row of {m} numbers, which count on from word to word: 0.1, 0.2, 0.3, 0.4 …").format(
            m=view.config.d_model
        )
    return _STEPS[step][1](view)


def tensor_origin(view: View, vectors: inputs.Rows | None) -> str:
    """A line on where the tensors come from: trained, random, or typed in."""
    config = view.config
    source = _("Word vectors: random (seed {seed}).").format(seed=config.seed)
    if config.rows:
        source = _("Word vectors: counted, 0.1, 0.2, 0.3, 0.4 …")
    if vectors is not None:
        source = _("Word vectors: trained, from {name}.").format(name=escape_markdown(vectors.name))
    n = len(config.edits)
    text = join_sentences(
        source,
        _("Weights: random (seed {seed}).").format(seed=config.seed),
        ngettext("{n} cell typed in by you.", "{n} cells typed in by you.", n).format(n=n) if n else "",
        _("Sentence 2 of the batch is the first with its words moved by one, and so on.") if config.batch > 1 else "",
    )
    return f":small[{text}]"


def _describe_embeddings(vectors: inputs.Rows, view: View) -> str:
    return _(
        "Each token is a row of {m} numbers: the first {m} of {whole} in **{name}**'s "
        "**trained** embedding table, times {factor}."
    ).format(
        m=view.config.d_model,
        whole=vectors.whole_width,
        name=quote_token(vectors.name).strip("*"),
        factor=f"{vectors.factor:g}",
    )


def _position(view: View) -> str:
    places = view.result.tensors["P"]
    last = len(places) - 1
    return _(
        "Each place has a wave of its own: {word}, at place {place}, gets {number} added to its first number."
    ).format(word=query_sentence(view, last), place=last, number=f"{Rounded(places[last, 0]):+.2f}")


def _split(view: View) -> str:
    layout = view.config.layout
    if layout.heads_per_kv > 1:
        return ngettext(
            "Nothing is computed: head {h} takes its part of Q ({d} wide), and shares key/value head {g} with one "
            "other.",
            "Nothing is computed: head {h} takes its part of Q ({d} wide), and shares key/value head {g} with {n} "
            "others.",
            layout.heads_per_kv - 1,
        ).format(h=view.head + 1, d=layout.qk_width, g=layout.kv_head_of(view.head) + 1, n=layout.heads_per_kv - 1)
    return ngettext(
        "Nothing is computed: head {h} of {n} takes its one column, and works on it alone.",
        "Nothing is computed: head {h} of {n} takes its {d} columns, and works on them alone.",
        layout.qk_width,
    ).format(h=view.head + 1, n=layout.n_heads, d=layout.qk_width)


def _qk_norm(view: View) -> str:
    before = np.linalg.norm(displayed_matrix(view, "Q"), axis=-1)
    return _("Every row gets the length √D. Before, the queries of head {h} were {low} to {high} long.").format(
        h=view.head + 1, low=f"{Rounded(before.min()):.2f}", high=f"{Rounded(before.max()):.2f}"
    )


def _rotate(view: View) -> str:
    last = len(view.result.q_words[0]) - 1
    return _(
        "Each pair of numbers turns with the place: {word} turns its first pair by {angle} radians; lengths stay."
    ).format(word=query_sentence(view, last), angle=f"{Rounded(view.result.tensors['angles'][last, 0]):.2f}")


def _scores(view: View) -> str:
    query, key, best = largest_entry(view, "scores")
    template = (
        _("Each query row times each key row. The best match in head {h}: {query} with {key}, {value:.2f}.")
        if best.alone
        else _("Each query row times each key row. In head {h}, {query} with {key} makes {value:.2f}.")
    )
    return template.format(h=view.head + 1, query=query, key=key, value=best.value)


def _scale(view: View) -> str:
    raw, scaled = (float(np.abs(displayed_matrix(view, n)).max()) for n in ("scores", "scaled"))
    if raw == scaled and view.config.scaled:
        return _("√1 is 1, so heads of width 1 keep their scores as they are.")
    if not view.config.scaled:
        template = _("The division is switched off: the largest |score| stays {raw:.2f}, and softmax will be sharper.")
    else:
        template = _(
            "Wider heads make larger scores; dividing by √D takes that back: the largest |score| falls from {raw:.2f} "
            "to {scaled:.2f}."
        )
    return template.format(raw=raw, scaled=scaled)


def _mask(view: View) -> str:
    mask = view.result.tensors["mask"]
    hidden = int((~mask).sum())
    return ngettext(
        "{n} score of {all} is hidden: −∞ becomes a weight of exactly 0.",
        "{n} scores of {all} are hidden: −∞ becomes a weight of exactly 0.",
        hidden,
    ).format(n=hidden, all=mask.size)


def _softmax(view: View) -> str:
    query, key, most = largest_entry(view, "weights")
    if not most.alone:
        template = _("Each row becomes shares that sum to 1. In head {h}, {query} gives {share:.0%} to {key}.")
    elif has_single_key_rows(view):
        template = _(
            "Each row becomes shares that sum to 1. Of the words that may look at more than one, {query} gives most in "
            "head {h}: {share:.0%} to {key}."
        )
    else:
        template = _("Each row becomes shares that sum to 1. In head {h}, {query} gives most: {share:.0%} to {key}.")
    return template.format(h=view.head + 1, query=query, share=most.value, key=key)


def _dropout(view: View) -> str:
    if not view.config.training:
        return _(
            "In evaluation nothing is dropped: the weights go on as they are. Switch training mode on to "
            "see dropout act."
        )
    lost = int((~displayed_matrix(view, "kept")).sum())
    return ngettext(
        "{n} weight is dropped and the others grow by 1/(1−p): rows no longer sum to 1.",
        "{n} weights are dropped and the others grow by 1/(1−p): rows no longer sum to 1.",
        lost,
    ).format(n=lost)


def _sum(view: View) -> str:
    query, key, most = largest_entry(view, "dropped" if "dropped" in view.result.tensors else "weights")
    return _("Each row is a mixture of the value rows: that of {query} is {share:.0%} the row of {key}.").format(
        query=query, share=most.value, key=key
    )


def _residual(view: View) -> str:
    added, x = (float(np.linalg.norm(view.result.tensors[name][view.batch])) for name in ("output", "X"))
    return _(
        "Attention adds to each word and does not replace it: the rows that it adds are {ratio} times as long "
        "as those of X."
    ).format(ratio=f"{Rounded(added / max(x, 1e-9)):.2f}")


def _norm(view: View) -> str:
    spreads = view.result.tensors["residual"][view.batch].std(-1)
    return _("Each row gets mean 0 and spread 1; before, the spreads were {low} to {high}.").format(
        low=f"{Rounded(spreads.min()):.2f}", high=f"{Rounded(spreads.max()):.2f}"
    )


def _ffn(view: View) -> str:
    config, hidden = view.config, view.result.tensors["hidden"][view.batch]
    sizes = {name: matrix.size for name, matrix in view.result.weights.items()}
    ffn, total = sum(sizes[name] for name in ("W_1", "b_1", "W_2", "b_2")), sum(sizes.values())
    return _(
        "Each word alone: its {m} numbers become {f}, negative ones become 0 (here {zeros} of {all}), and the rest "
        "becomes {m} again. The FFN holds {ffn} of the layer's {total} parameters: **{share}**."
    ).format(
        m=config.d_model,
        f=config.d_ff,
        zeros=int((hidden < 0).sum()),
        all=hidden.size,
        ffn=ffn,
        total=total,
        share=f"{Rounded(ffn / total):.0%}",
    )


_STEPS: dict[str, tuple[str, Callable[[View], str]]] = {
    "embed": (
        N_("Embed"),
        lambda view: _(
            "Each word looks up its row of {m} numbers in a table, **random (seed {seed})**: {word} has the same row "
            "wherever it stands."
        ).format(m=view.config.d_model, seed=view.config.seed, word=query_sentence(view, 0)),
    ),
    "position": (N_("Add places"), _position),
    "project": (
        N_("Project"),
        lambda view: _(
            "Q is what a word asks for, K what it is found by, V what it hands over: the same "
            "row, times {n} weights in three matrices."
        ).format(n=sum(view.result.weights[f"W_{n}"].size for n in "QKV")),
    ),
    "split": (N_("Split heads"), _split),
    "qk_norm": (N_("Normalise"), _qk_norm),
    "rotate": (N_("Rotate"), _rotate),
    "scores": (N_("Scores"), _scores),
    "scale": (N_("Scale"), _scale),
    "bias": (
        N_("Add bias"),
        lambda view: _(
            "The farther the key, the lower its score: at the largest distance, head {h} takes {far} off."
        ).format(h=view.head + 1, far=f"{Rounded(-float(view.result.tensors['bias'][view.head].min())):.2f}"),
    ),
    "mask": (N_("Mask"), _mask),
    "softmax": (N_("Softmax"), _softmax),
    "dropout": (N_("Dropout"), _dropout),
    "sum": (N_("Weighted sum"), _sum),
    "merge": (
        N_("Merge heads"),
        lambda view: _("The rows of all heads are laid side by side; columns: {n} × {d} = {all}.").format(
            n=view.config.n_heads, d=view.config.d_value, all=view.config.n_heads * view.config.d_value
        ),
    ),
    "output": (
        N_("Output"),
        lambda view: _("One more matrix lets the heads' columns mix, and brings each row back to width {m}.").format(
            m=view.config.d_model
        ),
    ),
    "residual": (N_("Residual"), _residual),
    "norm": (N_("Norm"), _norm),
    "ffn": (N_("FFN"), _ffn),
}
