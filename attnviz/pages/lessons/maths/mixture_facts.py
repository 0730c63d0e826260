"""Lesson 1, what attention is: a token's new vector is a weighted mixture of others."""

from __future__ import annotations

import numpy as np
import torch

from attnviz.core.attention import attend
from attnviz.pages.lessons.maths.subject import Facts, Subject

NEW_WORD, OTHER_NEW_WORD = "moon", "sun"


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
