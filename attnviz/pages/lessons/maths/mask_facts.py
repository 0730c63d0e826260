"""Lesson 5, masks: who may look at whom, and why one sentence is many training examples."""

import numpy as np

from attnviz.base.message import MessageList
from attnviz.core import masks
from attnviz.pages.lessons.maths.lesson_parts import (
    Facts,
    Subject,
    fact,
    require_two,
)


@fact
def square(subject: Subject) -> Facts:
    n = len(subject.first_words)
    return Facts({"n": n, "all": n * n, "first": subject.first_words[0], "last": subject.first_words[-1]})


@fact
def kept(subject: Subject) -> Facts:
    n = len(subject.first_words)
    counted = int(masks.causal(n, n).sum())
    offered = {"half": n * n / 2, "triangle": n * (n + 1) // 2, "line": n}
    right, *also_right = (name for name in ("triangle", "half", "line") if offered[name] == counted)
    terms = " + ".join(map(str, range(1, n + 1))) if n < 4 else f"1 + 2 + … + {n}"
    return Facts(
        {"n": n, "all": n * n, "kept": counted, "terms": terms, **offered}, right, also_right=tuple(also_right)
    )


@fact
def later_words(subject: Subject) -> Facts:
    """Largest change of the earlier words' outputs when the last word is removed, with and without a mask."""
    require_two(subject.hand_words)
    hand_words = subject.hand_words
    changes = {}
    for mask in ("causal", "none"):
        full = subject.attend_by_hand(mask=mask).tensors["output"][0, :-1]
        changes[mask] = float(
            np.abs(full - subject.attend_by_hand(hand_words[:-1], mask=mask).tensors["output"][0]).max()
        )
    return Facts(
        {"last": hand_words[-1], "causal": changes["causal"], "open": changes["none"]},
        right="no" if changes["causal"] < 1e-5 else "yes",
    )


@fact
def examples(subject: Subject) -> Facts:
    """Each word but the last is asked for the next one, all in one pass."""
    require_two(subject.hand_words)
    first_words = subject.first_words
    pairs = [f"{' '.join(first_words[: i + 1])} → {first_words[i + 1]}" for i in range(min(3, len(first_words) - 1))]
    count = len(first_words) - 1
    return Facts(
        {"n": len(first_words), "count": count, "shown": MessageList(tuple(pairs))},
        right="all",
        also_right=("one",) if count == 1 else (),
    )


@fact
def too_late(subject: Subject) -> Facts:
    """Weights set to 0 after softmax, instead of scores to minus infinity before it."""
    require_two(subject.hand_words)
    after, before = (subject.attend_by_hand(mask=mask).tensors["weights"][0, 0, 0] for mask in ("none", "causal"))
    left = float(after[0])  # the first word may see itself alone
    return Facts(
        {"word": subject.hand_words[0], "left": left, "proper": float(before.sum())},
        right="less" if left < 1 - 1e-6 else "one",
    )
