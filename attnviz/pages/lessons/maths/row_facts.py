"""The facts of the lessons on a row of weights: the mixture it makes, how it is computed, and what scaling does."""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn.functional as functional

from attnviz.core.attention import attend
from attnviz.core.measures import entropy
from attnviz.pages.lessons.maths.subject import WIDTH, Facts, Subject, written
from attnviz.pages.scaling.maths import growing_width, saturation, variance
from attnviz.runs.what_if import WhatIf


def vectors(subject: Subject) -> Facts:
    made = subject.by_hand().tensors
    return Facts(
        {
            "word": subject.words[-1],
            "width": WIDTH,
            "x": written(made["X"][0, -1]),
            "q": written(made["Q"][0, 0, -1]),
            "k": written(made["K"][0, 0, -1]),
            "v": written(made["V"][0, 0, -1]),
        }
    )


def score(subject: Subject) -> Facts:
    """The last word's best score, written out; and what a key that points the query's own way would get."""
    made = subject.by_hand().tensors
    q, scores = made["Q"][0, 0, -1], made["scores"][0, 0, -1]
    best = int(scores.argmax())
    same_way = float(q @ q)
    right = "positive" if same_way > 1e-9 else "zero" if same_way > -1e-9 else "negative"
    values = {
        "word": subject.words[-1],
        "other": subject.words[best],
        "q": written(q),
        "k": written(made["K"][0, 0, best]),
        "score": float(scores[best]),
        "same_way": same_way,
    }
    return Facts(values, right)


def scaled(subject: Subject) -> Facts:
    made = subject.by_hand().tensors
    best = int(made["scores"][0, 0, -1].argmax())
    return Facts(
        {
            "score": float(made["scores"][0, 0, -1, best]),
            "scaled": float(made["scaled"][0, 0, -1, best]),
            "width": WIDTH,
            "root": math.sqrt(WIDTH),
        }
    )


def softmax(subject: Subject) -> Facts:
    """Two scores that differ by 1: how their weights compare, whatever the other scores are."""
    row = torch.from_numpy(subject.by_hand().tensors["scaled"][0, 0, -1]).double()
    pair = torch.softmax(torch.cat([row, row[:1] + 1]), 0)
    times = float(pair[-1] / pair[0])
    near = {"same": 1.0, "e": math.e, "ten": 10.0}
    right = min(near, key=lambda name: abs(near[name] - times))
    weights = subject.by_hand().tensors["weights"][0, 0, -1]
    return Facts({"times": times, "word": subject.words[-1], "total": float(weights.sum())}, right)


def mixed(subject: Subject) -> Facts:
    made = subject.by_hand().tensors
    weights = made["weights"][0, 0, -1]
    best = int(weights.argmax())
    return Facts(
        {
            "word": subject.words[-1],
            "other": subject.words[best],
            "share": float(weights[best]),
            "output": written(made["heads"][0, 0, -1]),
        }
    )


def by_torch(subject: Subject) -> Facts:
    """The same in one line, by a function that this app did not write."""
    made = subject.by_hand().tensors
    q, k, v = (torch.from_numpy(made[name]) for name in "QKV")
    theirs = functional.scaled_dot_product_attention(q, k, v).numpy()
    rows = len(subject.words)
    return Facts({"difference": float(np.abs(theirs - made["heads"]).max()), "n": rows, "pairs": rows * rows})


NEW_WORD, OTHER_NEW_WORD = "moon", "sun"


# Lesson 1, what attention is: a token's new vector is a weighted mixture of others.
def tokens(subject: Subject) -> Facts:
    labels = subject.tokens
    repeated = len(labels) - len(set(labels))
    return Facts({"n": len(labels), "first": labels[0], "last": labels[-1], "repeated": repeated})


def favourite(subject: Subject) -> Facts:
    """The key that the told row looks at most; offered beside two others that it may look at."""
    matrix, row = subject.matrix(), subject.row
    seen = np.where(matrix.hidden[row], -1.0, matrix.values[row])
    best = int(seen.argmax())
    allowed = [int(key) for key in np.argsort(seen) if seen[key] >= 0 and key != best]
    offered = sorted({best, *allowed[:1], *allowed[-1:]})
    values = {
        "token": matrix.row_name(row),
        "key": matrix.col_name(best),
        "share": float(seen[best]),
        "n": int((~matrix.hidden[row]).sum()),
    }
    return Facts(values, str(best), tuple((str(key), matrix.col_name(key)) for key in offered))


def row_sum(subject: Subject) -> Facts:
    matrix, row = subject.matrix(), subject.row
    weights = np.where(matrix.hidden[row], 0.0, matrix.values[row])
    return Facts(
        {
            "token": matrix.row_name(row),
            "total": float(weights.sum()),
            "n": int((~matrix.hidden[row]).sum()),
            "hidden": int(matrix.hidden[row].sum()),
        }
    )


def one_hot(subject: Subject) -> Facts:
    """All weight on one word: the output is that word's value vector."""
    made = subject.by_hand().tensors
    q, k, v = (torch.from_numpy(made[name]) for name in "QKV")
    n = q.shape[-2]
    only = torch.zeros(n, n, dtype=torch.bool)
    only[:, 0] = True
    output = attend(q, k, v, only).output[0, 0, -1]
    distance = {
        "value": float((output - v[0, 0, 0]).abs().max()),
        "zero": float(output.abs().max()),
        "mean": float((output - v[0, 0].mean(0)).abs().max()),
    }
    right = min(distance, key=lambda name: distance[name])
    values = {"word": subject.words[-1], "other": subject.words[0], "difference": distance["value"]}
    return Facts(values, right)


def swapped(subject: Subject) -> Facts:
    """One word exchanged for another: whose weights change."""
    words = subject.words
    new = NEW_WORD if words[0] != NEW_WORD else OTHER_NEW_WORD
    before = subject.by_hand().tensors["weights"][0, 0]
    after = subject.by_hand((new, *words[1:])).tensors["weights"][0, 0]
    changed = int((np.abs(after - before).max(-1) > 1e-6).sum())
    right = "all" if changed == len(words) else "one" if changed == 1 else "none" if not changed else "some"
    return Facts({"word": words[0], "new": new, "rows": changed, "n": len(words)}, right)


USUAL, WIDE = 64, 512


# Lesson 3, why scores are divided by the square root of d_k.
def spread(_subject: Subject) -> Facts:
    """How large a dot product of random q and k typically is: the root of its measured variance."""
    measured = variance.first(variance.Config(d_k=USUAL))
    typical = math.sqrt(measured.raw.variance)
    near = {"one": 1.0, "root": math.sqrt(USUAL), "all": float(USUAL)}
    right = min(near, key=lambda name: abs(math.log(near[name] / typical)))
    values = {
        "d_k": USUAL,
        "root": math.sqrt(USUAL),
        "typical": typical,
        "scaled": math.sqrt(measured.scaled.variance),
        "pairs": measured.pairs,
    }
    return Facts(values, right)


def saturated(_subject: Subject) -> Facts:
    row = growing_width.run(growing_width.Config(d_k=WIDE))
    return Facts({"d_k": WIDE, "n": row.config.n_keys, "raw": row.raw.largest, "scaled": row.scaled.largest})


def off(subject: Subject) -> Facts:
    """The told row with and without scaling."""
    row = subject.row
    before, after = subject.matrix(), subject.matrix(WhatIf(scale="none"))
    one, other = (
        torch.from_numpy(np.where(each.hidden[row], 0.0, each.values[row])).double() for each in (before, after)
    )
    sharper = float(entropy(one) - entropy(other))
    right = "same" if abs(sharper) < 1e-9 else "sharper" if sharper > 0 else "flatter"
    values = {
        "token": before.row_name(row),
        "key": before.col_name(int(other.argmax())),
        "before": float(one[int(other.argmax())]),
        "after": float(other.max()),
    }
    return Facts(values, right)


def gradient(_subject: Subject) -> Facts:
    """How much of a change in the scores softmax lets through: the median norm of its Jacobian."""
    at = {name: _median_norm(name) for name in ("raw", "sqrt")}
    right = "less" if at["raw"] < at["sqrt"] else "more" if at["raw"] > at["sqrt"] else "same"
    return Facts({"d_k": WIDE, "raw": at["raw"], "scaled": at["sqrt"], "times": at["sqrt"] / at["raw"]}, right)


def _median_norm(alternative: str) -> float:
    measured = saturation.run(saturation.Config(alternative=alternative))
    nearest = int(np.argmin(np.abs(np.log(measured.d_k / WIDE))))
    return float(measured.bands["jacobian"].middle[nearest])


def too_much(_subject: Subject) -> Facts:
    """Divided by d_k itself instead of its root."""
    row = growing_width.run(growing_width.Config(d_k=WIDE))
    weights = torch.softmax(torch.from_numpy(row.raw.logits).double() / WIDE, 0)
    largest, even = float(weights.max()), 1 / len(weights)
    near = {"even": even, "same": row.scaled.largest, "one": 1.0}
    right = min(near, key=lambda name: abs(near[name] - largest))
    return Facts({"d_k": WIDE, "largest": largest, "even": even, "scaled": row.scaled.largest}, right)
