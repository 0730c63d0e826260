"""Lesson 5, masks: who may look at whom, and why one sentence is many training examples."""

from __future__ import annotations

import numpy as np

from attnviz.base.message import Several
from attnviz.core import masks
from attnviz.pages.lessons.maths.subject import Facts, Subject


def square(subject: Subject) -> Facts:
    n = len(subject.words)
    return Facts({"n": n, "all": n * n, "first": subject.words[0], "last": subject.words[-1]})


def kept(subject: Subject) -> Facts:
    n = len(subject.words)
    counted = int(masks.causal(n, n).sum())
    offered = {"half": n * n // 2, "triangle": n * (n + 1) // 2, "line": n}
    right = next(name for name in ("triangle", "half", "line") if offered[name] == counted)
    return Facts({"n": n, "all": n * n, "kept": counted, **offered}, right)


def later_words(subject: Subject) -> Facts:
    """The last word hidden from the layer altogether: what changes for the words before it, with and without a mask."""
    words = subject.words
    if len(words) < 2:
        return Facts({"last": words[-1], "causal": 0.0, "open": 0.0}, "no")
    changes = {}
    for mask in ("causal", "none"):
        whole = subject.by_hand(mask=mask).tensors["output"][0, :-1]
        shorter = subject.by_hand(words[:-1], mask=mask).tensors["output"][0]
        changes[mask] = float(np.abs(whole - shorter).max())
    right = "no" if changes["causal"] < 1e-5 else "yes"
    return Facts({"last": words[-1], "causal": changes["causal"], "open": changes["none"]}, right)


def examples(subject: Subject) -> Facts:
    """Each word but the last is asked for the next one, all in one pass."""
    words = subject.words
    shown = [f"{' '.join(words[: i + 1])} → {words[i + 1]}" for i in range(min(3, len(words) - 1))]
    count = len(words) - 1
    near = {"one": 1, "all": count}
    right = "one" if near["one"] == count == 1 else "all"
    return Facts({"n": len(words), "count": count, "shown": Several(tuple(shown)) if shown else words[0]}, right)


def too_late(subject: Subject) -> Facts:
    """Weights set to 0 after softmax, instead of scores to minus infinity before it."""
    weights = subject.by_hand().tensors["weights"][0, 0]
    n = len(weights)
    left = np.where(np.tri(n, dtype=bool), weights, 0.0).sum(-1)
    before = subject.by_hand(mask="causal").tensors["weights"][0, 0].sum(-1)
    right = "less" if float(left[0]) < 1 - 1e-6 else "one"
    return Facts({"word": subject.words[0], "left": float(left[0]), "proper": float(before[0])}, right)
