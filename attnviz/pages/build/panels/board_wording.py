"""The name of each step, and one sentence about it with the numbers on show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from attnviz.app.text import plain, quoted
from attnviz.base.words import N_, _, ngettext, sentences
from attnviz.pages.build.maths import attention_by_hand, inputs


@dataclass(frozen=True)
class Seen:
    """A forward pass, the head and sentence of it on show, and the trained rows its vectors come from, if any."""

    result: attention_by_hand.Result
    head: int
    sentence: int
    vectors: inputs.Rows | None

    def cut(self, name: str) -> np.ndarray:
        """The matrix of tensor `name` (B, H, ...) for the sentence and the head on show."""
        return np.asarray(self.result.tensors[name][self.sentence, self.head])

    def top(self, name: str) -> tuple[str, str, float]:
        """Query word, key word and value of the largest entry on show of a (B, H, Q, K) tensor, safe for Markdown."""
        matrix = self.cut(name)
        if self.some_have_one_key and name != "scores":  # such a row gives all its weight to that key in any case
            matrix = np.where(self.result.tensors["mask"].sum(-1, keepdims=True) > 1, matrix, -np.inf)
        i, j = np.unravel_index(int(matrix.argmax()), matrix.shape)
        return self.query(int(i)), self.key(int(j)), float(matrix[i, j])

    @property
    def some_have_one_key(self) -> bool:
        """Whether the mask leaves some words a single key, and others a choice."""
        mask = self.result.tensors.get("mask")
        return mask is not None and bool((mask.sum(-1) == 1).any() and (mask.sum(-1) > 1).any())

    def query(self, i: int) -> str:
        return quoted(self.result.q_words[self.sentence][i])

    def key(self, j: int) -> str:
        return quoted(self.result.k_words[self.sentence][j])


def name(step: str) -> str:
    """A step's name on the strip."""
    return _(_STEPS[step][0])


def sentence(step: str, seen: Seen) -> str:
    """A sentence on what to see in a step, as Markdown."""
    return _STEPS[step][1](seen)


def origin(seen: Seen) -> str:
    """A line on where the tensors come from: trained, random, or typed in."""
    config = seen.result.config
    vectors = _("Word vectors: random (seed {seed}).").format(seed=config.seed)
    if seen.vectors is not None:
        vectors = _("Word vectors: trained, from {name}.").format(name=plain(seen.vectors.name))
    n = len(config.edits)
    typed = ngettext("{n} cell typed in by you.", "{n} cells typed in by you.", n).format(n=n)
    batch = _("Sentence 2 of the batch is the first with its words moved by one, and so on.")
    text = sentences(
        vectors,
        _("Weights: random (seed {seed}).").format(seed=config.seed),
        typed if config.edits else "",
        batch if config.batch > 1 else "",
    )
    return f":small[{text}]"


def _embed(seen: Seen) -> str:
    if seen.vectors is not None:
        return _(
            "Each token is a row of {m} numbers: the first {m} of {whole} in **{name}**'s "
            "**trained** embedding table, times {factor}."
        ).format(
            m=seen.result.config.d_model,
            whole=seen.vectors.whole_width,
            name=quoted(seen.vectors.name).strip("*"),
            factor=f"{seen.vectors.factor:g}",
        )
    return _(
        "Each word is a row of {m} numbers, **random (seed {seed})**: {word} has the same row wherever it stands."
    ).format(m=seen.result.config.d_model, seed=seen.result.config.seed, word=seen.query(0))


def _position(seen: Seen) -> str:
    places = seen.result.tensors["P"]
    last = len(places) - 1
    return _(
        "Each place has a wave of its own: {word}, at place {place}, gets {number} added to its first number."
    ).format(word=seen.query(last), place=last, number=f"{places[last, 0]:+.2f}")


def _project(seen: Seen) -> str:
    weights = sum(seen.result.weights[f"W_{n}"].size for n in "QKV")
    return _(
        "Q is what a word asks for, K what it is found by, V what it hands over: the same "
        "row, times {n} weights in three matrices."
    ).format(n=weights)


def _split(seen: Seen) -> str:
    layout = seen.result.config.layout
    if layout.heads_per_kv > 1:
        return _(
            "Nothing is computed: head {h} takes its {d} columns of Q, and shares key/value head {g} with {n} others."
        ).format(h=seen.head + 1, d=layout.qk_width, g=layout.kv_head_of(seen.head) + 1, n=layout.heads_per_kv - 1)
    return _("Nothing is computed: head {h} of {n} takes its {d} columns, and works on them alone.").format(
        h=seen.head + 1, n=layout.n_heads, d=layout.qk_width
    )


def _qk_norm(seen: Seen) -> str:
    before = np.linalg.norm(seen.cut("Q"), axis=-1)
    return _("Every row gets the length √D. Before, the queries of head {h} were {low} to {high} long.").format(
        h=seen.head + 1, low=f"{before.min():.2f}", high=f"{before.max():.2f}"
    )


def _rotate(seen: Seen) -> str:
    last = len(seen.result.q_words[0]) - 1
    return _(
        "Each pair of numbers turns with the place: {word} turns its first pair by {angle} radians; lengths stay."
    ).format(word=seen.query(last), angle=f"{seen.result.tensors['angles'][last, 0]:.2f}")


def _scores(seen: Seen) -> str:
    query, key, value = seen.top("scores")
    return _("Each query row times each key row. The best match in head {h}: {query} with {key}, {value}.").format(
        h=seen.head + 1, query=query, key=key, value=f"{value:.2f}"
    )


def _scale(seen: Seen) -> str:
    raw, scaled = (float(np.abs(seen.cut(n)).max()) for n in ("scores", "scaled"))
    if not seen.result.config.scaled:
        return _("The division is switched off: the largest score stays {raw}, and softmax will be sharper.").format(
            raw=f"{raw:.2f}"
        )
    return _(
        "Wider heads make larger scores; dividing by √D takes that back: the largest falls from {raw} to {scaled}."
    ).format(raw=f"{raw:.2f}", scaled=f"{scaled:.2f}")


def _bias(seen: Seen) -> str:
    return _("The farther the key, the lower its score: at the largest distance, head {h} takes {far} off.").format(
        h=seen.head + 1, far=f"{-float(seen.result.tensors['bias'][seen.head].min()):.2f}"
    )


def _mask(seen: Seen) -> str:
    mask = seen.result.tensors["mask"]
    hidden = int((~mask).sum())
    return ngettext(
        "{n} score of {all} is hidden: −∞ becomes a weight of exactly 0.",
        "{n} scores of {all} are hidden: −∞ becomes a weight of exactly 0.",
        hidden,
    ).format(n=hidden, all=mask.size)


def _softmax(seen: Seen) -> str:
    query, key, value = seen.top("weights")
    template = _("Each row becomes shares that sum to 1. In head {h}, {query} gives most: {share} to {key}.")
    if seen.some_have_one_key:
        template = _(
            "Each row becomes shares that sum to 1. Of the words that may look at more than one, {query} gives most in "
            "head {h}: {share} to {key}."
        )
    return template.format(h=seen.head + 1, query=query, share=f"{value:.0%}", key=key)


def _dropout(seen: Seen) -> str:
    if not seen.result.config.training:
        return _(
            "In evaluation nothing is dropped: the weights go on as they are. Switch training mode on to "
            "see dropout act."
        )
    lost = int((~seen.cut("kept")).sum())
    return ngettext(
        "{n} weight is dropped and the others grow by 1/(1−p): rows no longer sum to 1.",
        "{n} weights are dropped and the others grow by 1/(1−p): rows no longer sum to 1.",
        lost,
    ).format(n=lost)


def _sum(seen: Seen) -> str:
    query, key, value = seen.top("dropped" if "dropped" in seen.result.tensors else "weights")
    return _("Each row is a mixture of the value rows: that of {query} is {share} the row of {key}.").format(
        query=query, share=f"{value:.0%}", key=key
    )


def _merge(seen: Seen) -> str:
    layout = seen.result.config.layout
    return _("The {n} heads' rows are laid side by side: {n} × {d} = {all} columns.").format(
        n=layout.n_heads, d=layout.v_width, all=layout.n_heads * layout.v_width
    )


def _output(seen: Seen) -> str:
    return _("One more matrix lets the heads' columns mix, and brings each row back to width {m}.").format(
        m=seen.result.config.d_model
    )


def _residual(seen: Seen) -> str:
    added, x = (float(np.linalg.norm(seen.result.tensors[name][seen.sentence])) for name in ("output", "X"))
    return _(
        "Attention adds to each word and does not replace it: the rows that it adds are {ratio} times as long "
        "as those of X."
    ).format(ratio=f"{added / max(x, 1e-9):.2f}")


def _norm(seen: Seen) -> str:
    spreads = seen.result.tensors["residual"][seen.sentence].std(-1)
    return _("Each row gets mean 0 and spread 1; before, the spreads were {low} to {high}.").format(
        low=f"{spreads.min():.2f}", high=f"{spreads.max():.2f}"
    )


_STEPS: dict[str, tuple[str, Callable[[Seen], str]]] = {
    "embed": (N_("Embed"), _embed),
    "position": (N_("Add places"), _position),
    "project": (N_("Project"), _project),
    "split": (N_("Split heads"), _split),
    "qk_norm": (N_("Normalise"), _qk_norm),
    "rotate": (N_("Rotate"), _rotate),
    "scores": (N_("Scores"), _scores),
    "scale": (N_("Scale"), _scale),
    "bias": (N_("Add bias"), _bias),
    "mask": (N_("Mask"), _mask),
    "softmax": (N_("Softmax"), _softmax),
    "dropout": (N_("Dropout"), _dropout),
    "sum": (N_("Weighted sum"), _sum),
    "merge": (N_("Merge heads"), _merge),
    "output": (N_("Output"), _output),
    "residual": (N_("Residual"), _residual),
    "norm": (N_("Norm"), _norm),
}
